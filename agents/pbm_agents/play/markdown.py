"""Pages of rules as HTML, by markdown-it-py (extras `serve` and `widget`)."""

from __future__ import annotations

from markdown_it import MarkdownIt

FIRST_HEADING = 3
"""The level of a page's first heading, below those of the board's page."""


def html(page: str) -> str:
    r"""Return a page as HTML, its first heading at level 3. A link becomes its words, since the page leads nowhere.

    >>> html("# A game\n\nIt is *fun*: [take](rules.md) `a1`.\n")
    '<h3>A game</h3>\n<p>It is <em>fun</em>: take <code>a1</code>.</p>\n'
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(page)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + FIRST_HEADING - 1)}"
        if token.type in ("fence", "code_block"):
            token.attrSet("tabindex", "0")  # scrollable regions must be reachable by keyboard
        if token.children:
            token.children = [child for child in token.children if child.type not in ("link_open", "link_close")]
    text: str = reader.renderer.render(tokens, reader.options, {})
    return text
