"""The message that shows a position to the person at a board. It is computed from the view of that person's seat."""

from __future__ import annotations

import re

from pbm_envs import Game
from pbm_envs.authoring import NOBODY, Explanation
from pbm_envs.records import FORFEITED, PLY_LIMIT, RESIGN, RESIGNED, board_text
from pbm_envs.render import svg
from pbm_envs.toolbox import Sample, typed, without_implied

from ..players.agent import Views
from .adviser import turning_ply
from .clock import OUT_OF_TIME
from .page import board_svg
from .session import PERSON, Session
from .start import Message, friendly_name, level_name, number_of
from .thinking import Advice

REPORTED_MOVES = 5
"""The number of the adviser's moves that are sent with their values."""


def position(
    session: Session,
    seat: int | None,
    advice: Advice | None = None,
    thinking: str = "",
    ply: int | None = None,
    theme: str = "light",
    *,
    everything: bool = False,
) -> Message:
    """Return the message with a position.

    Args:
        session: The game.
        seat: The seat of the person at the board; NOBODY for a spectator of a game with hidden information; None while
            persons change places and nothing may be shown.
        advice: The results of the adviser.
        thinking: "answer", "hint", "analysis" or "values" while an agent computes that and nobody may move.
        ply: The ply to show; None for the last one.
        theme: A name in `THEMES`.
        everything: Whether to show the full state at every ply, as in the record of a finished game.
    """
    game = session.game
    if seat is None:
        words = {"title": game.wording.title, "goal": game.wording.goal}
        return {"curtain": f"Player {session.mover + 1}", "game": game.name, **words}
    ply = session.plies if ply is None else ply
    last = ply == session.plies
    if (last and session.done) or everything:
        view = session.position(ply).copy()
        view["viewer"] = seat
    else:
        view = session.seen(ply, seat)
    own = last and not session.done and session.mover == seat and not thinking and bool(session.persons)
    hint = advice.hint if advice and last else None
    moves = advice.moves[:REPORTED_MOVES] if advice and last else []
    values = advice.values if advice else {}
    return {
        "curtain": None,
        "game": game.name,
        "title": game.wording.title,
        "goal": game.wording.goal,
        "options": {name: typed(value) for name, value in without_implied(type(game), game.options).items()},
        "seats": list(session.players),
        "seat": seat,
        "svg": board_svg(game.scene(view), theme),
        "cells": list(game.cell_texts(view[0])),
        "headline": headline(session, seat, thinking) if last else f"After move {ply} of {session.plies}",
        "players": [_player(session, view, player, theme) for player in range(game.num_players)],
        "moves": [
            {"move": move or "hidden", "player": player, "given": number < session.given}
            for number, (move, (_, player)) in enumerate(zip(session.moves_seen_by(seat), session.moves, strict=True))
        ],
        "ply": ply,
        "plies": session.plies,
        "since": _since(session, seat) if last else [],
        "explains": type(game).explain is not Game.explain,
        "legal": [move_message(game, action) for action in session.legal() if action != game.resign_action]
        if own
        else [],
        "hint": None
        if hint is None
        else move_message(game, game.string_to_action(hint)) | {"sure": advice and advice.sure},
        "analysis": [move_message(game, move.action) | {"value": move.value, "proven": move.proven} for move in moves]
        or None,
        "turn": _turn(session, seat, advice),
        "can analyse": advice is not None and advice.can_analyse,
        "values": [values.get(at) for at in range(session.plies + 1)] if values else [],
        "thinking": thinking,
        "done": session.done,
        "hand over": belongs_to_another_person(session, seat),
        "can undo": last
        and thinking in ("", "values")
        and any(player in session.persons for _, player in session.moves),
        "lesson": bool(game.lesson),
        "exercise": None,
        "linkable": game.perfect_information,
        "board": board_text(game, session.start) if game.perfect_information else None,
        "can save": session.done or game.perfect_information,
    }


def belongs_to_another_person(session: Session, seat: int | None) -> bool:
    """Return whether it is the turn of a person other than the one in `seat`, with another view."""
    return not session.done and seat != session.mover and session.mover in session.persons


def display_name(session: Session, player: int) -> str:
    """Return the name of a player on the board: "You", the agent's level or its name by strength, or `Player 2`."""
    name = session.players[player]
    if name == PERSON:
        return "You" if session.persons == [player] else f"Player {player + 1}"
    called = level_name(session.game.name, name) or friendly_name(name)
    return called if session.players.count(name) == 1 else f"{called} ({player + 1})"


def headline(session: Session, seat: int, thinking: str) -> str:
    """Return a line with the player to move and what that player may do, or the result of the game and its reason."""
    if session.done:
        return _result(session)
    mover, game = display_name(session, session.mover), session.game
    if thinking == "answer":
        return f"{mover} is thinking"
    if session.mover != seat or not session.persons:
        return f"{mover} is to move"
    task = game.task(game.view(session.state, seat)[0])
    return f"Your move: {task}" if task else "Your move"


def _result(session: Session) -> str:
    """Return who has won and why, addressed to the person, if there is one."""
    returns, record = session.state["returns"][0], session.record()
    you = session.persons[0] if len(session.persons) == 1 else NOBODY
    if returns.max() == 1:
        winner = int(returns.argmax())
        result = f"{display_name(session, winner)} won"
    else:
        result = "Draw"
    if you != NOBODY and returns[you] < 0:
        result = "You lost"
    if record.ending in (RESIGNED, FORFEITED):
        loser = display_name(session, session.moves[-1][1])
        loser = "you" if loser == "You" else loser
        if record.ending == FORFEITED and record.forfeits[-1].reason == OUT_OF_TIME:
            return f"{result}: {loser} {OUT_OF_TIME}"
        reason = record.forfeits[-1].reason if record.ending == FORFEITED else RESIGNED
        return f"{result}: {loser} {'' if reason == RESIGNED else 'forfeited by '}{reason}"
    why = session.game.ending(session.state[0], you) or "the limit of moves is reached" * (record.ending == PLY_LIMIT)
    why = re.sub(r"player_(\d+)", lambda player: display_name(session, int(player[1])), why)
    return f"{result}: {why}" if why else result


def symbols(session: Session, seat: int | None, theme: str) -> list[Message]:
    """Return the symbols on this board, with small pictures."""
    game = session.game
    view = session.seen(0, seat or 0)
    return [_small(sample, theme) for sample in game.symbols(view[0])]


def explanation(session: Session, seat: int, cells: object) -> Message:
    """Return what a person is told about one cell, or why no move leads from the first of two to the other.

    Raises:
        ValueError: If `cells` is not a list of one or two cells.
    """
    game, view = session.game, session.view(seat)
    if not isinstance(cells, list) or len(cells) not in (1, 2):
        raise ValueError("'cells' are wrong: expected a list of one or two cells")
    cells = [number_of({"cells": cell}, "cells", game.board.size - 1) for cell in cells]
    told = game.explain(view[0], cells) if session.mover == seat and not session.done else Explanation()
    return {"cells": cells, "text": told.text, "range": list(told.cells)}


def _player(session: Session, view: Views, player: int, theme: str) -> Message:
    game = session.game
    badge, holdings = game.badge(view[0], player), game.holdings(view[0], player)
    done = bool(view["done"][0])
    return {
        "name": display_name(session, player),
        "role": game.role(view[0], player),
        "badge": None if badge is None else _small(badge, theme),
        "holdings": None if holdings is None else _small(holdings, theme),
        "to move": not done and int(view["to_move"][0]) == player,
        "return": float(view["returns"][0, player]) if done else None,
    }


def _small(sample: Sample, theme: str) -> Message:
    return {"svg": svg(sample.scene(), None, theme, transparent=True), "text": sample.text, "width": sample.width}


def _since(session: Session, seat: int) -> list[int]:
    """Return the cells of all plies since this seat's last one, in a game of three or more players."""
    if session.game.num_players < 3:
        return []
    cells: list[int] = []
    for move, (_, player) in zip(reversed(session.moves_seen_by(seat)), reversed(session.moves), strict=True):
        if player == seat:
            break
        if move not in (RESIGN, ""):
            cells += session.game.action_cells(session.game.string_to_action(move))
    return cells


def move_message(game: Game, action: int) -> Message:
    """Return a move with its cells, and the text of its button if it has none."""
    text = game.action_to_string(action)
    return {"move": text, "cells": list(game.action_cells(action)), "call": game.wording.calls.get(text, text)}


def _turn(session: Session, seat: int, advice: Advice | None) -> Message | None:
    """Return the turning point of a finished game, with the expected return of `seat` before and after it."""
    if advice is None or not advice.choices or not session.done:
        return None
    values = advice.values
    ply = turning_ply(values, float(session.state["returns"][0, seat]))
    if ply is None or ply not in advice.choices:
        return None
    move, player = session.moves[ply]
    after = values[min(later for later in values if later > ply)]
    choice = session.game.action_to_string(advice.choices[ply])
    numbers = {"ply": ply + 1, "before": values[ply], "after": after}
    return {"move": move, "player": display_name(session, player), "choice": choice, **numbers}
