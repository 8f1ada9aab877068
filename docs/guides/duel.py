"""Duel: three cards, one for each player and a hidden one; the poker of Kuhn (1950) as a game of pbm_envs.

The actions are `check` or `bet`, and after a bet `call` or `fold`. The higher card wins the pot: 1/2 after two checks,
1 after a call; a player who folds loses 1/2. Board texts are the cards of player_0, player_1 and the third card, such
as "J Q K".
"""

import numpy as np

from pbm_envs.authoring import (
    Deal,
    Game,
    Mask,
    Planes,
    Record,
    RecordRules,
    Seeds,
    States,
    Tables,
    kernel,
    make_board,
    register_game,
    shuffle,
    state_dtype,
)

CARDS = "?JQK"
CHECK, BET, CALL, FOLD = 0, 1, 2, 3


@kernel
def settle(state: Record, winner: int, pot: float) -> None:
    state["returns"][winner] = pot
    state["returns"][1 - winner] = -pot
    state["done"] = True


@kernel
def play(state: Record, mover: int, action: int, tables: Tables) -> None:
    higher = 0 if state["cards"][0] > state["cards"][1] else 1
    if action == FOLD:
        settle(state, 1 - mover, 0.5)
    elif action == CALL:
        settle(state, higher, 1.0)
    elif action == CHECK and mover == 1:
        settle(state, higher, 0.5)
    state["bet"] = action == BET


@kernel
def mark_legal(state: Record, mask: Mask, tables: Tables) -> None:
    mask[CALL] = mask[FOLD] = state["bet"]
    mask[CHECK] = mask[BET] = not state["bet"]


@kernel
def observe(view: Record, viewer: int, planes: Planes, tables: Tables) -> None:
    for cell in range(3):
        if view["cards"][cell]:
            planes[0, cell, view["cards"][cell] - 1] = 1
    planes[0, viewer, 3] = 1
    planes[0, :, 4] = view["bet"]


@kernel
def deal_batch(states: States, seeds: Seeds) -> None:
    for i in range(len(states)):
        cards = states[i]["cards"]
        for k in range(3):
            cards[k] = k + 1
        shuffle(seeds, i, cards)


@kernel
def hide_batch(states: States, views: States) -> None:
    for i in range(len(views)):
        viewer = views[i]["viewer"]
        views[i] = states[i]
        views[i]["viewer"] = viewer
        views[i]["cards"][2] = 0
        if not states[i]["done"]:  # both cards are visible at the end
            views[i]["cards"][1 - viewer] = 0


@kernel
def fill_in_batch(states: States, seeds: Seeds) -> None:
    """Deal the hidden cards (0) anew, in random order."""
    left = np.empty(3, np.int64)
    for i in range(len(states)):
        cards, count = states[i]["cards"], 0
        for card in range(1, 4):
            if card != cards[0] and card != cards[1] and card != cards[2]:
                left[count] = card
                count += 1
        shuffle(seeds, i, left[:count])
        for cell in range(3):
            if cards[cell] == 0:
                count -= 1
                cards[cell] = left[count]


@register_game
class Duel(Game):
    """Kuhn poker, for two. Actions: `check`, `bet`, `call`, `fold`."""

    name = "duel"
    perfect_information = False
    random_setup = True
    rules = RecordRules(play, mark_legal, observe)

    def __init__(self) -> None:
        planes = {f"{card} here": f"the viewer knows that the card is {card}" for card in CARDS[1:]}
        planes |= {"mine": "the viewer's card", "bet": "the opponent has bet"}
        super().__init__(
            options={},
            board=make_board({(0, 0): "first", (0, 1): "second", (0, 2): "third"}, [(0, 1)], {}),
            dtype=state_dtype(2, [("cards", "i1", (3,)), ("bet", "?")]),
            planes=planes,
            moves=("check", "bet", "call", "fold"),
            form="'check', 'bet', 'call' or 'fold'",
            max_plies=3,
        )

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is None:
            deal_batch(states, seeds)
            return
        cards = board.strip().upper().split(" ")
        if sorted(cards) != sorted(CARDS[1:]):
            raise ValueError(f"board is {board!r}: expected J, Q and K in some order, such as 'J Q K'")
        states["cards"] = [CARDS.index(card) for card in cards]

    def _board_to_string(self, state: Record) -> str:
        return " ".join(CARDS[card] for card in state["cards"])

    def _view(self, states: States, views: States) -> None:
        hide_batch(states, views)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        states = views.copy()
        fill_in_batch(states, seeds)
        return states

    def _deal(self) -> Deal:
        cells: tuple[int, ...] = (0, 1, 2)
        return Deal(cells, self.board.names, (tuple((card,) for card in CARDS[1:]),), rows=(cells,), blank=" ")
