"""Liar's Dice with one die each as a game of pbm_envs, by OpenSpiel's rules.

Each player rolls a die and sees only that one. In turn they bid a number of dice and a face: "2-5" means at least two
fives among all dice, where the highest face counts as any face. Each bid must be higher than the last, by number, then
by face. Instead of bidding, a player may say `liar`: the dice are revealed, and the bidder wins if the bid is true.
Board texts are the two dice, such as "3 6".
"""

from typing import Any

import numpy as np

from pbm_envs.authoring import (
    Deal,
    Game,
    Mask,
    Option,
    Planes,
    Record,
    RecordRules,
    Seeds,
    States,
    Tables,
    draw,
    kernel,
    make_board,
    register_game,
    state_dtype,
    win,
)


@kernel
def play(state: Record, mover: int, action: int, tables: Tables) -> None:
    sides = tables[0]
    if action < 2 * sides:
        state["bid"] = action + 1
        return
    number, face = (state["bid"] - 1) // sides + 1, (state["bid"] - 1) % sides + 1
    for die in state["dice"]:
        number -= die == face or die == sides
    win(state, 1 - mover if number <= 0 else mover)


@kernel
def mark_legal(state: Record, mask: Mask, tables: Tables) -> None:
    for bid in range(state["bid"], 2 * tables[0]):
        mask[bid] = True
    mask[2 * tables[0]] = state["bid"] > 0


@kernel
def observe(view: Record, viewer: int, planes: Planes, tables: Tables) -> None:
    for cell in range(2):
        planes[0, cell, 0] = view["dice"][cell]
    planes[0, viewer, 1] = 1
    planes[0, :, 2] = view["bid"]


@kernel
def roll_batch(states: States, seeds: Seeds, sides: int) -> None:
    """Roll the hidden dice (0)."""
    for i in range(len(states)):
        for cell in range(2):
            if states[i]["dice"][cell] == 0:
                states[i]["dice"][cell] = 1 + draw(seeds, i, sides)


@kernel
def hide_batch(states: States, views: States) -> None:
    for i in range(len(views)):
        viewer = views[i]["viewer"]
        views[i] = states[i]
        views[i]["viewer"] = viewer
        if not states[i]["done"]:
            views[i]["dice"][1 - viewer] = 0


@register_game
class LiarsDice(Game):
    """Liar's Dice for two players with one die each. Actions: the bids from "1-1" up, then `liar`."""

    name = "liars_dice"
    perfect_information = False
    random_setup = True
    rules = RecordRules(play, mark_legal, observe)
    configurations = ({"sides": 2}, {})
    declared_options = (Option("sides", int, 6, low=2, high=9, help="Faces of a die."),)

    def __init__(self, **options: Any) -> None:
        options = self.check_options(options)
        self.sides = options["sides"]
        self.tables = (self.sides,)
        bids = [f"{number}-{face}" for number in (1, 2) for face in range(1, self.sides + 1)]
        super().__init__(
            options=options,
            board=make_board({(0, 0): "first", (0, 1): "second"}, [(0, 1)], {}),
            dtype=state_dtype(2, [("dice", "i1", (2,)), ("bid", "i1")]),
            planes={
                "die": "the face, if the viewer knows it",
                "mine": "the viewer's die",
                "bid": "the last bid, counted from 1",
            },
            moves=(*bids, "liar"),
            form="a bid such as '2-5' (a number of dice and a face), or 'liar'",
            max_plies=2 * self.sides + 1,
        )

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is None:
            roll_batch(states, seeds, self.sides)
            return
        dice = board.strip().split(" ")
        faces = [str(face) for face in range(1, self.sides + 1)]
        if len(dice) != 2 or not set(dice) <= set(faces):
            raise ValueError(f"board is {board!r}: expected two faces from 1 to {self.sides}, such as '1 2'")
        states["dice"] = np.array(dice, np.int8)

    def _board_to_string(self, state: Record) -> str:
        return " ".join(str(die) if die else "?" for die in state["dice"])

    def _view(self, states: States, views: States) -> None:
        hide_batch(states, views)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        states = views.copy()
        roll_batch(states, seeds, self.sides)
        return states

    def _deal(self) -> Deal:
        die = tuple(str(face) for face in range(1, self.sides + 1))
        return Deal((0, 1), self.board.names, ((die,), (die,)), rows=((0, 1),), blank=" ")
