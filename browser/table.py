"""The table of a board for a page without Python: what `table.mjs` needs of the code and the data of the games.

The table of `pbm serve` (`pbm_agents.play`), the pictures and the sentences of the games are translated to JavaScript
(`translate.py`), so nothing is written a second time; `table.mjs` has what a page has in another form: the kernels as
WebAssembly, agents, and the clock.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pbm_agents.play import adviser, exercises, kept, messages, orders, page, session, start, thinking
from pbm_agents.players.names import make_agent
from pbm_agents.search.ending import ending
from translate import Translator

from pbm_envs import Game, registered_games, registry
from pbm_envs.core.hooks import GameHooks
from pbm_envs.core.notation import Notation
from pbm_envs.core.randomness import stream
from pbm_envs.core.state import copy_states
from pbm_envs.core.validation import check_same_games, seat, status, why_illegal
from pbm_envs.envs.memory import watches
from pbm_envs.render import letters
from pbm_envs.render.pixels import check_size
from pbm_envs.text import puzzles, reading
from pbm_envs.toolbox import typed, without_implied

REPLACED = {
    Game: "Game",
    registry.make_game: "make_game",
    registry.make_registered_game: "make_game_named",
    registry.parse_game: "parse_game",
    registry.registered_games: "registered_games",
    registry.find_game: "find_game",
    start.game_form: "game_form",
    start.form_choices: "form_choices",
    start.level_name: "level_name",
    without_implied: "without_implied",
    puzzles.has_puzzles: "has_puzzles",
    puzzles.load_puzzles: "load_puzzles",
    reading.last_json: "last_json",
    reading.Kind: "Kind",
    letters._glyphs: "glyphs",
    page.rules_html: "rules_html",
    make_agent: "make_agent",
    session.choose: "choose",
    adviser.advise: "advise",
    adviser.can_analyse: "can_analyse",
    ending: "ending",
    stream: "stream",
    watches: "watches",
    copy_states: "copy_states",
    check_same_games: "nothing",
    check_size: "nothing",
    kept.KeptGames: "KeptGames",
}
"""What `table.mjs` has instead, by name."""
WAITING = frozenset({"advise", "choose", "curve", "Session._ask", "Session.choose_action"})
"""Functions that wait for a search, which lets messages pass meanwhile."""
OWN = {
    thinking.Thinking: ("think", "choose_at_pace"),
    orders.Orders: ("_resume", "invite"),
    puzzles.Puzzle: ("table",),
    GameHooks: ("_scene", "wording", "rules_page"),
}
KERNELS = frozenset((
    "drawing", "_step", "_legal_action_mask", "_observe", "_view", "_determinize", "_playout", "_play_kernels",
    "_validate", "_symmetries", "_transform", "_deal", "_seen_actions", "_public",
))  # fmt: skip
"""Methods of games for which a page calls kernels, or which it never calls."""
"""Methods that `table.mjs` has itself."""
ROOTS = {
    "Orders": orders.Orders,
    "Thought": thinking.Thought,
    "Thinking": thinking.Thinking,
    "Start": start.Start,
    "MoveValue": adviser.MoveValue,
    "Notation": Notation,
    "Puzzle": puzzles.Puzzle,
    "searched": adviser._searched,
    "seats": session.seats,
    "seat": seat,
    "status": status,
    "why_illegal": why_illegal,
    "position": messages.position,
    "begin_exercise": exercises.begin_exercise,
}
ATTRIBUTES = ("_base", "_takes", "_total", "settings")
"""Attributes of games that are numbers, and that sentences and pictures read."""
ENTRIES = (
    *orders.ORDERS, "carry_out", "use_thought", "close", "_scene", "_init", "_board_to_string", "_remove_player",
    "from_json", "record",
)  # fmt: skip
"""Methods that `table.mjs` calls."""


def code() -> str:
    """Return the module with the table, and with the pictures and sentences of all games."""
    translator = Translator(REPLACED, WAITING, {kind: frozenset(names) for kind, names in OWN.items()}, KERNELS)
    translator.mentioned |= set(ENTRIES)
    hooks = translator.use(GameHooks)
    translator.between[GameHooks] = f"const Game = G.Game = G.game_class({hooks});"
    exports = {name: translator.use(thing) for name, thing in ROOTS.items()}
    games = {name: translator.use(registry.find_game(name)) for name in registered_games()}
    body = translator.finish()
    listed = [*(f"{name}: {value}" for name, value in exports.items()), f"games: {{ {', '.join(games.values())} }}"]
    return (
        "// Translated from Python by `translate.py`.\n"
        f"export default function code(R, G) {{\n{body}\nreturn {{ {', '.join(listed)} }};\n}}\n"
    )


def facts_of_game(name: str) -> dict[str, Any]:
    """Return what a page has to know about a game with any options, as JSON."""
    file = Path(puzzles.__file__).with_name(f"{name}.jsonl")
    return {
        "form": start.game_form(name),
        "class": registry.find_game(name).__name__,
        "puzzles": file.read_text(encoding="utf-8").splitlines() if file.exists() else [],
    }


def facts_of_board(game: Game) -> dict[str, Any]:
    """Return what a page has to know about a board, as JSON."""
    notation = game.notation
    texts = [notation.write(action) for action in range(game.num_actions)]
    own = {text.lower(): action for action, text in enumerate(texts)}
    board = game.board
    return {
        "options": dict(game.options),
        "typed": {key: typed(value) for key, value in without_implied(type(game), game.options).items()},
        "form": notation.form,
        "other": {text: action for text, action in notation._actions.items() if text not in own},
        "neighbours": board.neighbours.tolist(),
        "edges": board.edges.tolist(),
        "hidden": not game.perfect_information,
        "attributes": {name: _plain(value) for name, value in vars(game).items() if name in ATTRIBUTES},
    }


def _plain(value: Any) -> Any:
    """Return numbers and records of NumPy as JSON."""
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray) and value.dtype.names:
        return [_plain(each) for each in value]
    if isinstance(value, np.void):
        return {name: _plain(value[name]) for name in value.dtype.names or ()}
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


def fonts() -> dict[str, Any]:
    """Return the outlines of letters."""
    return dict(letters._glyphs())
