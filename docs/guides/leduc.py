"""Leduc poker (Southey et al. 2005) as a game of pbm_envs: a public card in the middle of the game.

The deck has two cards of each of three ranks. Each player gets one and puts 1 into the pot; after a round of betting a
public card is turned up, and a second round follows. A player calls (or checks), raises (by 2 in the first round and 4
in the second, at most two raises per round), or folds a bet. A pair with the public card wins the pot, otherwise the
higher rank; equal ranks share it.

A card drawn in mid-game is equivalent to a hidden card dealt at the start: `_view` shows it from the second round on,
so public trees, searches and OpenSpiel need no chance event in mid-game. Returns are chips / 16, which is exact in
binary. Board texts are the cards of player_0 and player_1 and the public card, such as "Ka Qb Kb".
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

CARDS = ("Ja", "Jb", "Qa", "Qb", "Ka", "Kb")
"""The cards; card k is 1 + k in states, and 0 is a card that the viewer does not see."""
FOLD, CALL, RAISE = 0, 1, 2
PUBLIC = 2
SCALE = 16
"""Chips for a return of 1; a player can lose at most 13."""


@kernel
def strength(state: Record, player: int) -> int:
    """Return the strength of a player's card: its rank, or more if it pairs the public card."""
    rank = (state["cards"][player] - 1) // 2
    return rank + 3 if rank == (state["cards"][PUBLIC] - 1) // 2 else rank


@kernel
def settle(state: Record, winner: int) -> None:
    won = state["stakes"][1 - winner] / SCALE
    state["returns"][winner] = won
    state["returns"][1 - winner] = -won
    state["done"] = True


@kernel
def play(state: Record, mover: int, action: int, tables: Tables) -> None:
    other = 1 - mover
    if action == FOLD:
        settle(state, other)
        return
    state["stakes"][mover] = state["stakes"][other]
    if action == RAISE:
        state["stakes"][mover] += 4 if state["second"] else 2
        state["raises"] += 1
        state["checked"] = False
    elif state["raises"] == 0 and not state["checked"]:
        state["checked"] = True
    elif not state["second"]:
        state["second"] = True
        state["raises"] = 0
        state["checked"] = False
        state["to_move"] = 0
    else:
        mine, theirs = strength(state, mover), strength(state, other)
        if mine == theirs:
            state["done"] = True
        else:
            settle(state, mover if mine > theirs else other)


@kernel
def mark_legal(state: Record, mask: Mask, tables: Tables) -> None:
    mask[FOLD] = state["stakes"][0] != state["stakes"][1]
    mask[CALL] = True
    mask[RAISE] = state["raises"] < 2


@kernel
def observe(view: Record, viewer: int, planes: Planes, tables: Tables) -> None:
    for cell in range(3):
        if view["cards"][cell]:
            planes[0, cell, view["cards"][cell] - 1] = 1
    planes[0, viewer, 6] = 1
    planes[0, :2, 7] = view["stakes"]
    planes[0, :, 8] = view["raises"]
    planes[0, :, 9] = view["checked"]


@kernel
def deal_batch(states: States, seeds: Seeds) -> None:
    deck = np.empty(6, np.int64)
    for i in range(len(states)):
        for k in range(6):
            deck[k] = k + 1
        shuffle(seeds, i, deck)
        for cell in range(3):
            states[i]["cards"][cell] = deck[cell]


@kernel
def hide_batch(states: States, views: States) -> None:
    for i in range(len(views)):
        viewer = views[i]["viewer"]
        views[i] = states[i]
        views[i]["viewer"] = viewer
        if not states[i]["done"]:  # all cards are visible at the end
            views[i]["cards"][1 - viewer] = 0
            if not states[i]["second"]:
                views[i]["cards"][PUBLIC] = 0


@kernel
def fill_in_batch(states: States, seeds: Seeds) -> None:
    """Deal the hidden cards (0) from the rest of the deck."""
    deck = np.empty(6, np.int64)
    for i in range(len(states)):
        cards, count = states[i]["cards"], 0
        for card in range(1, 7):
            if card != cards[0] and card != cards[1] and card != cards[2]:
                deck[count] = card
                count += 1
        shuffle(seeds, i, deck[:count])
        for cell in range(3):
            if cards[cell] == 0:
                count -= 1
                cards[cell] = deck[count]


@register_game
class Leduc(Game):
    """Leduc poker, for two. Actions: `fold`, `call` (also to check), `raise`."""

    name = "leduc"
    perfect_information = False
    random_setup = True
    rules = RecordRules(play, mark_legal, observe)

    def __init__(self) -> None:
        planes = {f"{card} here": f"the viewer knows that the card is {card}" for card in CARDS}
        planes |= {
            "mine": "the viewer's card",
            "chips": "chips in the pot, by player",
            "raises": "raises in this round",
            "checked": "the first player of the round has checked",
        }
        super().__init__(
            options={},
            board=make_board({(0, 0): "first", (0, 1): "second", (0, 2): "public"}, [(0, 1)], {}),
            dtype=state_dtype(
                2, [("cards", "i1", (3,)), ("stakes", "i1", (2,)), ("raises", "i1"), ("checked", "?"), ("second", "?")]
            ),
            planes=planes,
            moves=("fold", "call", "raise"),
            form="'fold', 'call' or 'raise'",
            max_plies=8,
        )

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        states["stakes"] = 1
        if board is None:
            deal_batch(states, seeds)
            return
        cards = board.strip().split(" ")
        if len(cards) != 3 or len(set(cards)) != 3 or not set(cards) <= set(CARDS):
            raise ValueError(f"board is {board!r}: expected three different cards of {' '.join(CARDS)}")
        states["cards"] = [1 + CARDS.index(card) for card in cards]

    def _board_to_string(self, state: Record) -> str:
        return " ".join(("?", *CARDS)[card] for card in state["cards"])

    def _view(self, states: States, views: States) -> None:
        hide_batch(states, views)

    def _determinize(self, views: States, seeds: Seeds) -> States:
        states = views.copy()
        fill_in_batch(states, seeds)
        return states

    def _deal(self) -> Deal:
        cells: tuple[int, ...] = (0, 1, 2)
        return Deal(cells, self.board.names, (tuple((card,) for card in CARDS),), rows=(cells,), blank=" ")
