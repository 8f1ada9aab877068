"""Continual resolving: search under hidden information (Burch, Johanson & Bowling 2014; Moravčík et al. 2017).

Before each of its moves, the agent looks some plies ahead on the public tree, for all of its possible information sets,
and minimizes regret there for both players (predictive CFR+). In each of its information sets the opponent may instead
take the value that the last plan left it (the gadget of Burch et al.), so the agent cannot do worse against a best
response than it had planned. With more time the lookahead is deeper and the solution more precise; if it reaches the
end of every game from the start, the agent plays an equilibrium. Cut-off worlds have the mean value of random playouts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States, take_rows
from pbm_envs.envs.memory import AgentWithMemory, Ids
from pbm_envs.toolbox import Array, check_settings, options_of, setting

from ..common.progress import progress_bar
from ..players.agent import Actions, Views
from .growth import check_public_moves, check_two_players, count_set_ups, set_ups
from .lookahead import Belief, Lookahead, same_views
from .mirror import MirrorAgent, has_values
from .solvers import predictive_weights
from .sweeps import Regrets, Sweep, match_regrets, pull_best, push_forward
from .tree import Policy, PublicTree, proportional

ALL_WORLDS = 3_000
"""Maximum number of set-ups that a belief enumerates; with more, worlds are sampled anew for each move."""
GROWING = 0.3
"""Share of `seconds` spent growing the tree."""


@final
@dataclass(frozen=True)
class Resolving:
    """The settings of the search."""

    iterations: int = setting(100, low=1, help="Iterations of predictive CFR+ for each move.")
    size: int = setting(
        20_000,
        low=1,
        help="Maximum number of transitions in the lookahead tree, which always reaches the agent's next move.",
    )
    playouts: int = setting(8, low=1, help="Playouts from each world at the cut-off leaves of the tree.")
    seconds: float | None = setting(
        None, low=1e-9, high=1e9, help="Seconds for each move, in place of `iterations` and `size`."
    )
    worlds: int = setting(
        6,
        low=1,
        help="If there are too many worlds to keep them all: worlds drawn for the agent, and for the opponent in "
        "each of them.",
    )

    def __post_init__(self) -> None:
        check_settings(self)

    def plan(self, game: Game, belief: Belief, searcher: int, rng: np.random.Generator) -> Plan:
        """Build a lookahead from a belief, and solve it."""
        start = time.perf_counter()
        seconds = np.inf if self.seconds is None else self.seconds
        size = self.size if self.seconds is None else 1 << 40
        until = start + GROWING * seconds
        plan = Plan(Lookahead(game, belief, searcher, size=size, playouts=self.playouts, rng=rng, until=until))
        for iteration in count(1):
            plan.step(iteration)
            if iteration >= self.iterations if self.seconds is None else time.perf_counter() > start + seconds:
                break
        plan.finish()
        return plan


@final
class Plan:
    """The policies of the searcher and the opponent on a `Lookahead`."""

    def __init__(self, ahead: Lookahead) -> None:
        tree = ahead.tree
        self.ahead = ahead
        self.policy: Policy = tree.uniform_policy()
        """The latest policy of both players; after `finish`, the average."""
        self._regrets = Regrets(np.zeros(tree.num_choices), np.zeros(tree.num_choices))
        self._values = np.empty(tree.num_pairs)
        gains = ahead.belief.gains
        sets = int(ahead.opponent_sets.max()) + 1
        self._left: Array | None = None
        """(opponent's information sets at the root,) the opponent's value if it does not enter the tree."""
        if gains is not None:
            self._left = np.bincount(ahead.opponent_sets, gains[ahead.levels[0].worlds], sets)
        self._enters = np.full(sets, 1.0 if gains is None else 0.5)
        self._enter_regrets = np.zeros((2, sets))

    def step(self, iteration: int) -> None:
        """Run an iteration of predictive CFR+, with alternating updates."""
        ahead = self.ahead
        for player in range(2):
            sweep = self._forward(player, self._enters[ahead.opponent_sets])
            ahead.sweeps.backward(match_regrets, sweep, self._regrets, predictive_weights(iteration))
            if player != ahead.searcher and self._left is not None:
                self._match_gadget(sweep.values[: ahead.tree.num_roots])

    def finish(self) -> None:
        """Average the policy, and compute the opponent's best response to it where the searcher moves next."""
        tree = self.ahead.tree
        self.policy = Policy(tree, proportional(tree, self._regrets.average))
        sweep = self._forward(1 - self.ahead.searcher, np.ones(tree.num_roots))
        losses, best = np.empty(tree.num_information_sets), np.empty(tree.num_information_sets, np.int32)
        self.ahead.sweeps.backward(pull_best, sweep, best, losses)
        self._reached, self._gains = sweep.counterfactual, sweep.values

    def belief_at(self, depth: int, rows: slice) -> Belief:
        """Return the belief at a public node of the lookahead, one of `next_nodes`."""
        ahead, level = self.ahead, self.ahead.levels[depth]
        if depth == ahead.tree.depth:  # below the tree
            reached = self._reached_below(rows)
            gains = (2.0 * ahead.searcher - 1.0) * reached * ahead.cut_values[rows]
        else:
            first = ahead.first_pair(depth)
            pairs = slice(first + rows.start, first + rows.stop)
            reached, gains = self._reached[pairs], self._gains[pairs]
        total = reached.sum()
        states = take_rows(level.states, np.arange(rows.start, rows.stop))
        if total <= 0:  # the plan never reaches this node
            return Belief(states, level.histories[rows], np.full(len(states), 1 / len(states)), None)
        return Belief(states, level.histories[rows], reached / total, gains / total)

    def _forward(self, player: int, enters: Array) -> Sweep:
        ahead = self.ahead
        tree, roots = ahead.tree, ahead.tree.num_roots
        counterfactual, own = np.empty(tree.num_pairs), np.empty(tree.num_pairs)
        searching = player == ahead.searcher
        counterfactual[:roots] = ahead.root_weights * (enters if searching else 1.0)
        own[:roots] = 1.0 if searching else enters
        sweep = Sweep(player, self.policy.probabilities, counterfactual, own, self._values)
        ahead.sweeps.forward(push_forward, sweep)
        return sweep

    def _match_gadget(self, values: Array) -> None:
        """Match the regrets of the opponent's choice at the root: enter the tree, or take the last plan's value."""
        inside = np.bincount(self.ahead.opponent_sets, values, len(self._enters))
        both = np.array([inside, self._left])
        latest = both - (self._enters * both[0] + (1 - self._enters) * both[1])
        self._enter_regrets = np.maximum(self._enter_regrets + latest, 0.0)
        likely = np.maximum(self._enter_regrets + latest, 0.0)
        total = likely.sum(axis=0)
        self._enters = np.where(total > 0, likely[0] / np.where(total > 0, total, 1.0), 0.5)

    def _reached_below(self, rows: slice) -> Array:
        """Return the probabilities that chance and the searcher reach the worlds below the tree."""
        tree = self.ahead.tree
        pairs, sets, choices = tree.sources(self.ahead.levels[-1].parents[rows])
        mine = tree.set_player[sets] == self.ahead.searcher
        return self._reached[pairs] * np.where(mine, self.policy.probabilities[choices], 1.0)


@lru_cache(maxsize=8)
def _start(game: Game) -> Belief | None:
    """Return the belief of all set-ups, or None if there are too many."""
    if game.random_setup and (game.deal is None or count_set_ups(game) > ALL_WORLDS):
        return None
    return Belief.start(*set_ups(game))


@final
class ResolvingAgent(AgentWithMemory):
    """An agent that plays by continual resolving. It remembers its last plan for each game.

    If the deal is unknown (in a game from a position, for example) or too large to enumerate, each move is solved from
    scratch on sampled worlds: some that the agent cannot tell apart and, for each, some that the opponent cannot. In
    Curio with too many set-ups, it plays as a `MirrorAgent` where the champion has values of positions.
    """

    declared_options = options_of(Resolving)

    def __init__(self, **settings: Any) -> None:
        """Take the settings of `Resolving`."""
        self.search = Resolving(**settings)
        self._plans: dict[int, Plan | None] = {}
        self._mirror = MirrorAgent(seconds=self.search.seconds)

    def check_plays(self, game: Game) -> None:
        """Raise ValueError unless the game has two players and public moves."""
        check_two_players(game)
        check_public_moves(game)

    def begin_games(self, game: Game, ids: Ids) -> None:
        """Begin games, as `AgentWithMemory.begin_games`."""
        self.check_plays(game)
        self._plans |= dict.fromkeys(ids.tolist())

    def end_games(self, ids: Ids) -> None:
        """End games, as `AgentWithMemory.end_games`."""
        for number in ids.tolist():
            self._plans.pop(number, None)

    def act(self, game: Game, views: Views, rng: np.random.Generator, ids: Ids) -> Actions:
        """Return actions, as `AgentWithMemory.act`."""
        if _start(game) is None and has_values(game):
            return self._mirror.act(game, views, rng)
        actions = np.empty(len(views), np.int64)
        for row, number in enumerate(ids.tolist()):
            view = views[row : row + 1]
            plan = self._plans[number] = self._plan(game, view, self._plans.get(number), rng)
            choices = plan.policy.at(plan.ahead.root_set(view))
            actions[row] = rng.choice(list(choices), p=list(choices.values()))
        return actions

    def _plan(self, game: Game, view: Views, last: Plan | None, rng: np.random.Generator) -> Plan:
        player = int(view["viewer"][0])
        belief, start = None, _start(game)
        if start is not None:
            belief = start if last is None else _find(game, last, view)
            if last is None and not len(same_views(game, start.states, view, player)):
                # a plan from the start bounds the opponent's gain from its move
                belief = _find(game, self.search.plan(game, start, player, rng), view) if view["ply"][0] > 0 else None
        if belief is None:
            belief = sampled_belief(game, view, player, self.search.worlds, rng)
        return self.search.plan(game, belief, player, rng)


def sampled_belief(game: Game, view: States, player: int, worlds: int, rng: np.random.Generator) -> Belief:
    """Return sampled worlds with `view` (1,) for `player`, and for each some with the same view for the opponent."""
    if game.perfect_information:
        return Belief.start(game.determinize(view, rng), np.ones(1))
    mine = game.determinize(np.repeat(view, worlds), rng)
    theirs = game.determinize(np.repeat(game.view(mine, 1 - player), worlds - 1), rng)
    states = np.concatenate([mine, theirs])
    return Belief.start(states, np.ones(len(states)))


def resolving_policy(tree: PublicTree, search: Resolving, seed: int = 0, progress: bool = False) -> tuple[Policy, int]:
    """Return the agent's policy at every information set of a public tree; each plan has its own random generator.

    Args:
        tree: A public tree from the start of a game.
        search: The settings; with `seconds`, the policy varies from call to call.
        seed: Seed of the playouts.
        progress: Show a progress bar (extra `cli`).

    Returns:
        The policy, and the number of plans made.
    """
    probabilities = np.full(tree.num_choices, np.nan)
    plans = 0
    with progress_bar(progress, total=tree.num_information_sets, unit=" sets", unit_scale=True) as bar:
        for player in range(2):
            start = Belief.start(tree.starts, tree.chances)
            todo = [(start, np.argsort(tree.pair_world[: tree.num_roots]))]  # with the pairs of the whole tree
            while todo:
                belief, pairs = todo.pop()
                plan = search.plan(tree.game, belief, player, np.random.default_rng([seed, player, int(pairs[0])]))
                plans += 1
                below = _pairs_of(plan.ahead, tree, pairs)
                if plan.ahead.tree.set_player[0] == player:
                    bar.update(_write(plan, tree, below[0], probabilities))
                todo += [(plan.belief_at(depth, rows), below[depth][rows]) for depth, rows in plan.ahead.next_nodes()]
    return Policy(tree, probabilities), plans


def _pairs_of(ahead: Lookahead, whole: PublicTree, pairs: Array) -> list[Array]:
    """Return the pairs of each lookahead level in the whole tree; `pairs` are those of the belief's worlds."""
    found = [pairs[ahead.levels[0].worlds].astype(np.int64)]
    for depth, level in enumerate(ahead.levels[1:]):
        above, sets, choices = ahead.tree.sources(level.parents)
        there = found[-1][above - ahead.first_pair(depth)]
        whole_sets = np.searchsorted(whole.set_pairs, there, side="right") - 1
        sizes = whole.set_choices[whole_sets + 1] - whole.set_choices[whole_sets]
        first = whole.set_transitions[whole_sets] + (there - whole.set_pairs[whole_sets]) * sizes
        found.append(whole.children[first + choices - ahead.tree.set_choices[sets]].astype(np.int64))
    return found


def _write(plan: Plan, whole: PublicTree, pairs: Array, probabilities: Array) -> int:
    """Copy a plan's policy at the root into `probabilities` of the whole tree; return its number of sets."""
    tree = plan.ahead.tree
    for s in range(int(tree.level_sets[1])):
        at = int(np.searchsorted(whole.set_pairs, pairs[tree.set_pairs[s]], side="right")) - 1
        mine = slice(*tree.set_choices[s : s + 2].tolist())
        probabilities[slice(*whole.set_choices[at : at + 2].tolist())] = plan.policy.probabilities[mine]
    return int(tree.level_sets[1])


def _find(game: Game, last: Plan, view: Views) -> Belief | None:
    """Return the belief at the public node of the last plan where its searcher can have `view`, or None."""
    for depth, level in enumerate(last.ahead.levels):
        if depth == 0 or not len(level.worlds):
            continue
        rows = same_views(game, level.states, view, last.ahead.searcher)
        rows = rows[last.ahead.waiting[depth][rows]]
        if len(rows):
            node = int(np.searchsorted(level.nodes, rows[0], side="right")) - 1
            return last.belief_at(depth, slice(*level.nodes[node : node + 2].tolist()))
    return None
