"""Symmetries of the rules, as mappings of cells, actions, planes, letters and players."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boards import Board
from .state import NO_ACTION, NOBODY, Ints, States


class Symmetry(NamedTuple):
    """A renaming under which the rules are invariant. Entry k of each field is the image of k."""

    name: str
    cells: Ints
    """(n,) the image of each cell."""
    actions: Ints
    """(A,) the image of each action."""
    planes: Ints
    """(number of planes,) the image of each plane: observations change cell by cell and plane by plane."""
    marks: tuple[int, ...]
    """The image of each letter or colour, EMPTY first."""
    players: tuple[int, ...]
    """The image of each player, in to_move, returns and roles."""


def permutation(move: Mapping[Any, Any], order: Iterable[Any]) -> Ints:
    """Return (n,) positions in `order`: entry k is the position of the image of the k-th item.

    Args:
        move: The image of each item; an item that is not a key is mapped to itself.
        order: The items, such as the places of a board or the names of the planes.
    """
    place = {thing: k for k, thing in enumerate(order)}
    return np.array([place[move.get(thing, thing)] for thing in place], np.int64)


def rename_common_fields(states: States, symmetry: Symmetry, renamed: States) -> None:
    """Rename the players and the last actions of `states` (B,) in their copies, `renamed`."""
    players = np.asarray(symmetry.players)
    renamed["to_move"] = players[states["to_move"]]
    renamed["viewer"] = np.where(states["viewer"] == NOBODY, NOBODY, players[states["viewer"]])
    renamed["returns"][:, players] = states["returns"]
    last = states["last_action"]
    renamed["last_action"] = np.where(last == NO_ACTION, NO_ACTION, symmetry.actions[last])


def edge_permutation(board: Board, cells: NDArray[np.integer[Any]]) -> list[int]:
    """Return the image of each edge under the mapping of cell c to `cells[c]`."""
    bits = range(int(board.edges.max()).bit_length())
    sets = [set(np.flatnonzero(board.edges >> k & 1).tolist()) for k in bits]
    return [sets.index(set(cells[sorted(on_edge)].tolist())) for on_edge in sets]


def symmetry_of_cells(
    name: str, cells: Ints, action_cells: Sequence[tuple[int, ...]], planes: int, players: int = 2
) -> Symmetry:
    """Return the symmetry that renames only cells: marks, planes and players are unchanged.

    An action is mapped to the one that names the renamed cells. Actions that name the same cells (such as one per
    letter) keep their order.

    Args:
        name: The name of the symmetry.
        cells: (n,) the image of each cell.
        action_cells: The cells of each action, in order (`Game.action_cells`).
        planes: The number of planes of an observation.
        players: The number of players.
    """
    seen: dict[tuple[int, ...], int] = {}
    keys = []
    for named in action_cells:
        keys.append((named, seen.get(named, 0)))
        seen[named] = seen.get(named, 0) + 1
    place = {key: action for action, key in enumerate(keys)}
    actions = [place[tuple(int(cells[cell]) for cell in named), which] for named, which in keys]
    return Symmetry(name, cells, np.array(actions), np.arange(planes), (), tuple(range(players)))
