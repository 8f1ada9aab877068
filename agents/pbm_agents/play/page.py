"""The parts of a board's page: scripts, pictures, and rules as HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Example, Scene
from pbm_envs.records import play_moves
from pbm_envs.render import cropped, svg

MODULES = (
    "dom.js",
    "motion.js",
    "cells.js",
    "marks.js",
    "history.js",
    "newgame.js",
    "panels.js",
    "exercise.js",
    "sound.js",
    "share.js",
    "board.js",
)
"""The modules of the script, in order; each imports only from those before it."""
FIRST_HEADING = 3
"""The level of the first heading of the rules, below those of the board's page."""


def one_script() -> str:
    """Return all modules as one, without imports and with the exports of the last, as anywidget needs it."""
    parts = []
    for name in MODULES:
        text = files(__package__).joinpath(name).read_text(encoding="utf-8")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        parts.append(text if name == MODULES[-1] else re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def board_svg(scene: Scene, theme: str) -> str:
    """Return the board with its coordinates as SVG, without seats, scores and captures, which the page shows itself."""
    return svg(cropped(scene, legend=False), None, theme, transparent=True)


def short_rules(game: Game, theme: str) -> list[dict[str, str]]:
    """Return the rules for players, each with a picture as its player sees it; empty if the game has none."""
    return [{"text": rule.text, "svg": _example_svg(game, rule.example, theme)} for rule in game.short_rules]


def _example_svg(game: Game, example: Example, theme: str) -> str:
    game, state = example_position(game, example)
    scene = game.scene(game.view(state, example.player))
    return board_svg(replace(scene, caption="", cells=()), theme)  # nothing to click, and the text is beside it


def example_position(game: Game, example: Example) -> tuple[Game, Any]:
    """Return the game of an example, with its options, and its position, a batch of one."""
    game = type(game)(**example.options)
    state = game.init(1, np.random.default_rng(0), example.board)
    for _ in play_moves(game, state, example.moves):
        pass
    return game, state


def rules_html(page: str) -> str:
    r"""Return a page of rules as HTML, its first heading at level 3.

    Links are replaced by their text, since their targets are not on the page.

    >>> rules_html("# A game\n\nIt is *fun*: [take](rules.md) `a1`.\n")
    '<h3>A game</h3>\n<p>It is <em>fun</em>: take <code>a1</code>.</p>\n'
    """
    from markdown_it import MarkdownIt  # extras `serve` and `widget`

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
