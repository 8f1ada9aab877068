"""Pages of rules as HTML: headings, paragraphs, lists, tables, code, bold. What else Markdown has, rules do not use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape


def html(page: str) -> str:
    r"""Return a page as HTML, its first heading at level 3.

    >>> html("# A game\n\nIt is *fun*: take `a1`.\n\n- one\n- two")
    '<h3>A game</h3><p>It is <em>fun</em>: take <code>a1</code>.</p><ul><li>one</li><li>two</li></ul>'
    """
    return "".join(_blocks(page))


def _blocks(page: str) -> Iterator[str]:
    lines = page.splitlines()
    k = 0
    while k < len(lines):
        first = lines[k]
        if not first.strip():
            k += 1
            continue
        if first.startswith("```"):
            end = next((j for j in range(k + 1, len(lines)) if lines[j].startswith("```")), len(lines))
            yield f'<pre tabindex="0">{escape(chr(10).join(lines[k + 1 : end]))}</pre>'
            k = end + 1
            continue
        if heading := re.match(r"(#+) (.*)", first):
            level = min(6, len(heading[1]) + 2)
            yield f"<h{level}>{_inline(heading[2])}</h{level}>"
            k += 1
            continue
        end = next((j for j in range(k, len(lines)) if not lines[j].strip()), len(lines))
        block, k = lines[k:end], end
        if first.startswith("|"):
            yield _table(block)
        elif re.match(r"[-*] ", first):
            items = re.split(r"(?:^|\n)[-*] ", "\n".join(block))[1:]
            yield "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
        else:
            yield f"<p>{_inline(chr(10).join(block))}</p>"


def _table(rows: list[str]) -> str:
    cells = [[_inline(cell.strip()) for cell in row.strip().strip("|").split("|")] for row in rows]
    head = "".join(f"<th>{cell}</th>" for cell in cells[0])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells[2:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _inline(text: str) -> str:
    """Code, bold, emphasis; a link is its words."""
    parts = re.split(r"`([^`]+)`", " ".join(text.split()))
    for k, part in enumerate(parts):
        if k % 2:
            parts[k] = f"<code>{escape(part)}</code>"
            continue
        plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", escape(part, quote=False))
        plain = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", plain)
        parts[k] = re.sub(r"\*(.+?)\*", r"<em>\1</em>", plain)
    return "".join(parts)
