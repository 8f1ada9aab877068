"""Agents that try to learn what Curio hides: from games of different seats, or from the generator they are given."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from pbm_agents import make_agent

from pbm_envs import Curio, Game

BEGINNINGS: list[Any] = []
"""All views of first plies that agents of this module were given in this process, whoever asked them."""


class Collector:
    """Keeps what it sees of each game's first plies, and plays the first legal action."""

    def act(self, game: Game, views: Any, rng: np.random.Generator) -> Any:
        BEGINNINGS.extend(views[views["ply"] < 2])
        return game.legal_action_mask(views).argmax(axis=1)


class Cheater:
    """Searches like `mcts`, with all faces known wherever it could rebuild the set-up."""

    def __init__(self, simulations: int = 100) -> None:
        self.search: Any = make_agent(f"mcts:simulations={simulations}")
        self.beginnings: list[Any] = []

    def act(self, game: Game, views: Any, rng: np.random.Generator) -> Any:
        self.beginnings.extend(views[views["ply"] < 2])
        states, known = views.copy(), rebuilt(game, self.beginnings)
        for row, view in enumerate(views):
            fitting = [faces for faces in known if fits(view, faces)]
            if len(fitting) == 1:
                fill_in(states[row : row + 1], fitting[0])
        return self.search.act(game, states, rng)


def rebuilt(game: Game, views: list[Any]) -> list[Any]:
    """(slots, 2) the faces of every set-up that some view of Light and some view of Dark show together."""
    deck = kinds(game.init(1, np.random.default_rng(0))[0])
    light = [view for view in views if view["viewer"] == 0 and view["ply"] == 0]
    dark = [view for view in views if view["viewer"] == 1]
    found = {faces.tobytes(): faces for a in light for b in dark if (faces := together(a, b, deck)) is not None}
    return list(found.values())


def together(light: Any, dark: Any, deck: Counter[Any]) -> Any:
    """The faces of the set-up that both show, if they can be of one; `dark` may be one move later."""
    if (light["owner"] != dark["owner"]).any():
        return None
    both = light.copy()
    both["faces"][:, 1] = dark["faces"][:, 1]
    owner, slots = both["owner"], np.arange(len(both["owner"]))
    moved = np.flatnonzero((owner >= 0) & (dark["cell"] != slots))
    owner[moved] = -1
    on_board = np.flatnonzero(owner >= 0)
    own, other = both["faces"][on_board, owner[on_board]], both["faces"][on_board, 1 - owner[on_board]]
    if (own < other).any():  # set up with the larger number towards its owner
        return None
    left = deck - kinds(both)
    if len(moved) > 1 or left.total() != len(moved):
        return None
    for slot, (_, numbers) in zip(moved, left, strict=True):
        turn_up(both["faces"][slot], numbers, 0)
    return both["faces"]


def kinds(state: Any) -> Counter[Any]:
    """How many pieces of each owner and pair of numbers."""
    return Counter(
        (int(owner), tuple(sorted(faces.tolist())))
        for owner, faces in zip(state["owner"], state["faces"], strict=True)
        if owner >= 0
    )


def turn_up(faces: Any, numbers: tuple[int, int], viewer: int) -> None:
    """Fill in the face that `viewer` does not see."""
    low, high = numbers
    faces[1 - viewer] = high if faces[viewer] == low else low


def fits(view: Any, faces: Any) -> bool:
    """Whether the view may be one of a game that was set up so."""
    there = view["cell"] >= 0
    seen = view["faces"][there, view["viewer"]]
    return bool(((seen == faces[there, 0]) | (seen == faces[there, 1])).all())


def fill_in(state: Any, faces: Any) -> None:
    """Make a view a full state."""
    viewer = int(state["viewer"][0])
    for slot in np.flatnonzero(state["cell"][0] >= 0):
        turn_up(state["faces"][0, slot], tuple(sorted(faces[slot].tolist())), viewer)
    state["viewer"] = -1


def faces_of(game: Curio, board: str) -> bytes:
    """What `rebuilt` finds, for a board text."""
    return bytes(game.init(1, np.random.default_rng(0), board)["faces"][0].tobytes())


GUESSES = 30
"""Small seeds that are tried, and numbers around each seed that is found."""
LOOKED: list[bool] = []
"""For each first view of a `Detective`, whether the set-up was rebuilt."""


class Detective:
    """Rebuilds the set-up of games that begin from whatever its generator carries, and remembers how often."""

    def act(self, game: Game, views: Any, rng: np.random.Generator) -> Any:
        for view in views[views["ply"] < 2]:
            LOOKED.append(self.rebuilds(game, view, rng))
        masks = game.legal_action_mask(views)
        return masks.argmax(axis=1)

    @staticmethod
    def rebuilds(game: Game, view: Any, rng: np.random.Generator) -> bool:
        for number in carried(rng):
            for seed in (number, (number, 1)):
                sequence = np.random.SeedSequence(seed)
                for candidate in (np.random.default_rng(sequence), np.random.default_rng(sequence.spawn(1)[0])):
                    for start in (
                        game.init(1, candidate),
                        game.init(1, np.array([candidate.bit_generator.random_raw()], np.uint64)),
                    ):
                        seen = game.view(start, view["viewer"])[0]
                        if (seen["faces"] == view["faces"]).all() and (seen["owner"] == view["owner"]).all():
                            return True
        return False


def carried(rng: np.random.Generator) -> set[int]:
    """Seeds that an attacker would try."""
    sequence: Any = rng.bit_generator.seed_seq
    entropy = sequence.entropy
    numbers = {*range(GUESSES), *sequence.spawn_key}
    for number in [entropy] if isinstance(entropy, int) else list(entropy):
        numbers |= {int(number) + k for k in range(-2, 3)} | {int(number) >> k for k in (11, 32, 64, 75)}
    return {number for number in numbers if number >= 0}
