"""Prompts: the rules once (the system prompt), the position at each turn, and corrections of bad answers.

Everything is computed from the player's view and from the plies seen earlier (`History`). No advice is given.
The form follows Kaggle's Game Arena: the answer is the last JSON object `{"move": ...}`, legal moves are listed only on
request, and an unreadable answer and an illegal move get different messages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, final

from ..core.checks import check_flag, check_range
from ..core.state import NO_ACTION, NOBODY, Record, States, single_record
from .history import History
from .reading import KEY, Kind, Reading
from .vocabulary import Disguise, Vocabulary

RULES = ("short", "whole", "none")
POSITIONS = ("both", "picture", "json", "board")


@final
@dataclass(frozen=True)
class PromptStyle:
    """The amount of text in prompts."""

    rules: str = "short"
    """"short": a few sentences; "whole": the rules page; "none": only the form of an answer."""
    position: str = "both"
    """"picture" in characters; "json"; "both"; or "board": one line, which takes the fewest tokens."""
    history: int | None = None
    """Number of last plies to list; None for all, so that the prompt grows with the game."""
    legal_moves: bool = False
    """True to list the legal moves."""

    def __post_init__(self) -> None:
        for name, value, known in (("rules", self.rules, RULES), ("position", self.position, POSITIONS)):
            if value not in known:
                raise ValueError(f"{name} is {value!r}: expected one of {', '.join(known)}")
        if self.history is not None:
            check_range("history", self.history, 0, None, "a number of plies from 0 up, or None for all")
        check_flag("legal_moves", self.legal_moves)


FULL = PromptStyle()
COMPACT = PromptStyle(position="board", history=2)
"""The style with the fewest tokens that includes the rules."""


def system_prompt(words: Vocabulary, style: PromptStyle = FULL, attempts: int = 3) -> str:
    """Return the rules and the form of an answer, the same for all players and turns.

    `attempts` bad answers in one turn forfeit the game.
    """
    game, wording = words.game, words.game.wording
    if words.disguised and style.rules == "whole":
        raise ValueError("rules='whole' names the cells of the board: expected 'short' or 'none' with a disguise")
    paragraphs = [f"You play {words.translate(wording.title)}, a board game for {game.num_players} players."]
    if style.rules == "short":
        paragraphs.append(f"Rules. {words.translate(wording.summary)}")
        if wording.geometry and not words.disguised:
            paragraphs.append(f"The board. {wording.geometry}")
    elif style.rules == "whole":
        options = ", ".join(f"{name}={value!r}" for name, value in game.options.items())
        paragraphs += [game.rules_page(), f"Options of this game: {options}."]
    if isinstance(words, Disguise):
        paragraphs.append(_graph(words))
    paragraphs.append(_answer_form(words, attempts))
    return "\n\n".join(paragraphs)


def turn_prompt(
    words: Vocabulary, view: States | Record, history: History | None = None, style: PromptStyle = FULL
) -> str:
    """Return the position for the viewer of `view`, a record or a batch of one, with the question at their turn.

    `history` has the plies that this player has seen; without it, only the last move is included.
    """
    game, record = words.game, single_record(view)
    player = int(record["viewer"])
    if player == NOBODY:
        raise ValueError("the record is a full state: expected a player's view")
    shown = words.displayed(record)
    paragraphs = [_told(words, record, history, style)]
    if style.position in ("both", "picture") and not words.disguised:
        paragraphs.append(f"The position as you see it:\n\n{game.to_text(shown)}")
    if style.position in ("both", "json") or (words.disguised and style.position == "picture"):
        paragraphs.append(f"The position as JSON: {json.dumps(position(words, record), ensure_ascii=False)}")
    if style.position == "board":
        cells = json.dumps(position(words, record)["cells"], ensure_ascii=False) if words.disguised else ""
        line = f"The cells that are not empty: {cells}" if cells else f"The board: {game.board_to_string(record)}"
        paragraphs.append(line)
    paragraphs.append(_whose_turn(words, shown, player))
    if legal := words.legal_moves(record):
        if style.legal_moves:
            paragraphs.append(f"Legal moves: {' '.join(legal)}")
        paragraphs.append(f'End your answer with your move: {{"{KEY}": "..."}}')
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def correction(words: Vocabulary, reading: Reading, left: int | None = None) -> str:
    """Return the reply to an unreadable answer or an illegal move; `left` is the number of attempts left, if known."""
    if reading.kind is Kind.ILLEGAL:
        told = f"The move {reading.text!r} is illegal in this position. Choose another move, a legal one."
    else:
        told = f"Your answer could not be read: {reading.reason}. A move is {words.form}."
    attempts = "This is your last attempt. " if left == 1 else f"You have {left} attempts left. " if left else ""
    return f'{told} Nothing has been played. {attempts}End your answer with {{"{KEY}": "..."}}'


def position(words: Vocabulary, view: States | Record) -> dict[str, Any]:
    """Return the viewer's knowledge of a position, for JSON, without the empty cells."""
    game = words.game
    record = words.displayed(view)
    player = int(record["viewer"])
    told: dict[str, Any] = {"game": words.translate(game.wording.title), "ply": int(record["ply"])}
    told["you"] = f"player_{player}"
    if not record["done"]:
        told["to_move"] = f"player_{record['to_move']}"
    roles = {f"player_{k}": words.translate(game.role(record, k)) for k in range(game.num_players)}
    if any(roles.values()):
        told["roles"] = roles
    if record["last_action"] != NO_ACTION:
        told["last_move"] = words.moves[int(record["last_action"])]
    if texts := game.cell_texts(record):
        told["cells"] = {words.cells[cell]: words.translate(text) for cell, text in enumerate(texts) if text}
    elif not words.disguised:
        told["board"] = game.board_to_string(record)
    else:
        raise ValueError(f"{game!r} does not say what stands on its cells (cell_texts): it cannot be disguised")
    return told | _translated(game.facts(record), words)


def _translated(value: Any, words: Vocabulary) -> Any:
    if isinstance(value, dict):
        return {words.translate(key): _translated(entry, words) for key, entry in value.items()}
    if isinstance(value, list):
        return [_translated(entry, words) for entry in value]
    return words.translate(value) if isinstance(value, str) else value


def _answer_form(words: Vocabulary, attempts: int) -> str:
    ordinal = {2: "second", 3: "third"}.get(attempts, f"{attempts}th")
    tries = "An answer that cannot be read, or an illegal move, is sent back to you; "
    tries += f"the {ordinal} such answer in one turn forfeits the game."
    if attempts == 1:
        tries = "An answer that cannot be read or that is an illegal move forfeits the game."
    return (
        f'Answers. At each of your turns, end your answer with a JSON object that holds your move: {{"{KEY}": "..."}}. '
        f"Only the last such object counts. A move is {words.form}. {tries}"
    )


def _graph(words: Disguise) -> str:
    directions = words.game.board.neighbours.shape[1]
    edges = "; `edges` says which edges a cell lies on" if words.game.wording.edges else ""
    lines = "Cells that follow each other in one direction lie on a straight line."
    needed = "straight line" in words.game.wording.summary  # elsewhere "line" may be a word of the game
    return (
        f"The board. Its {words.game.board.size} cells have names without a meaning. `neighbours` lists, for each "
        f"cell, the next cell in each of {directions} directions, always in the same order, null where the board ends"
        f"{edges}. Two cells touch if one of them is a neighbour of the other.{' ' + lines if needed else ''}\n\n"
        f"{json.dumps(words.graph())}"
    )


def _told(words: Vocabulary, record: Record, history: History | None, style: PromptStyle) -> str:
    """Return the plies that the player has seen, or the last move."""
    if style.history == 0:
        return ""
    if history is None:
        if record["last_action"] == NO_ACTION:
            return ""
        return f"The last move was {words.move(record['last_action'])}."
    plies, lines = history.plies if style.history is None else history.plies[-style.history :], []
    if not plies:
        return "No move has been played yet." if record["ply"] == 0 else ""
    for seen in plies:
        player = "another player" if seen.player == NOBODY else f"player_{seen.player}"
        lines.append(f"{seen.ply}. {player}: {words.ply(seen) or 'a move that you have not seen'}")
    if not history.complete:
        head = "Moves that you have seen:"
    elif len(plies) < len(history.plies):
        head = f"The last {len(plies)} of {len(history.plies)} moves:"
    else:
        head = "The moves so far:"
    return "\n".join([head, *lines])


def _whose_turn(words: Vocabulary, shown: Record, player: int) -> str:
    game = words.game
    role = words.translate(game.role(shown, player))
    you = f"You are player_{player}" + (f" ({role})" if role else "")
    if shown["done"]:
        returns = shown["returns"][player]
        result = "have won" if returns == 1 else "have lost" if returns < 0 else "have drawn"
        return f"{you}. The game is over: you {result}."
    if int(shown["to_move"]) == player:
        return f"{you}. It is your turn (ply {int(shown['ply']) + 1})."
    return f"{you}. It is the turn of player_{shown['to_move']}."
