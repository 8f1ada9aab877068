"""Compare approximate best responses with exact ones, on the rungs of Curio's ladder where both are known.

    python benchmarks/approximate_responses.py --rungs 7 --moves 10000000
    python benchmarks/approximate_responses.py                  # what is missing in the .jsonl beside the results

There is one line of JSON per rung, agent and method; `results/approximate_responses.txt` has the table. A learned
response, in a table or a network, is a policy, whose value is computed on the public tree. A search only plays games.
Its value in a game is estimated as the value of the best response minus the loss of each of its decisions against the
best action. On average this equals its winnings, with much less variance. Networks need the extra `torch`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from machine import machine
from numpy.typing import NDArray
from pbm_agents import make_agent
from pbm_agents.equilibrium import (
    Policy,
    PolicyAgent,
    PublicTree,
    agent_policy,
    expected_value,
    exploitability,
    solvers,
)
from pbm_agents.equilibrium.evaluation import MemoizedAgent, forward_sweep, respond, root_value, without_gaps
from pbm_agents.equilibrium.response_table import table_policy
from pbm_agents.equilibrium.responses import ResponseMatch, SearchResponder, TableResponder
from pbm_agents.equilibrium.sweeps import sum_worlds

from pbm_envs import make_game

RESULTS = Path(__file__).parent / "results"
CFR = "CFR, 5 iterations"
AGENTS = ("random", "greedy", CFR, "ismcts:simulations=32")
METHODS = ("search", "search, exact endgames", "table", "network")
SLOW = {"greedy": 6, "ismcts:simulations=32": 3, "network": 3}
"""The last rung for what takes too long on the others."""
GAMES, SIMULATIONS = 200, 800
"""A search's games for each seat, and its simulations per move."""
STEPS = 200_000
"""Moves from which a network learns."""
SAMPLES = 4
"""How often an agent without probabilities acts at each view."""


class Shortfalls:
    """The losses of a responder's decisions against the best ones, when the opponent plays a known policy."""

    def __init__(self, policy: Policy, player: int) -> None:
        self.tree = policy.tree
        self.player = player
        self._sweep = forward_sweep(self.tree, policy, player)
        respond(self.tree, self._sweep)
        self.best = root_value(self.tree, self._sweep)
        """The value of a best response."""
        roots = self.tree.pair_world[: self.tree.num_roots].tolist()
        keys = without_gaps(self.tree.starts)
        self._roots = {keys[world].tobytes(): pair for pair, world in enumerate(roots)}

    def of(self, match: ResponseMatch) -> NDArray[np.float64]:
        """Return the shortfall of each game of a match, (N,), summed over its decisions."""
        starts = without_gaps(match.starts)
        pairs = [self._roots[start.tobytes()] for start in starts]
        short = np.zeros(len(pairs))
        for actions in match.moves:
            for game, pair in enumerate(pairs):
                if pair >= 0:
                    short[game] += self._follow(pairs, game, int(actions[game]))
        return short

    def _follow(self, pairs: list[int], game: int, action: int) -> float:
        """Play an action and return the responder's loss; `pairs[game]` becomes the next pair, below 0 at the end."""
        tree, pair = self.tree, pairs[game]
        s = int(np.searchsorted(tree.set_pairs, pair, side="right")) - 1
        first, last = tree.set_choices[s : s + 2].tolist()
        choice = tree.choice_actions[first:last].tolist().index(action)
        transition = tree.set_transitions[s] + (pair - tree.set_pairs[s]) * (last - first) + choice
        pairs[game] = int(tree.children[transition])
        if tree.set_player[s] != self.player:
            return 0.0
        sums = np.empty(last - first)
        sum_worlds(tree.flat, self._sweep, s, sums)
        reached = self._sweep.counterfactual[tree.set_pairs[s] : tree.set_pairs[s + 1]].sum()
        return float((sums.max() - sums[choice]) / reached)


def learn(policy: Policy, agent: MemoizedAgent, rng: np.random.Generator) -> dict[str, Any]:
    """Return the exact value of a learned response."""
    import torch
    from pbm_agents.equilibrium.learned_response import LearnedResponder

    torch.set_num_threads(1)
    tree = policy.tree
    network = LearnedResponder(tree.game, agent, steps=STEPS).train(rng)
    answer = network_policy(tree, network)
    movers = np.repeat(tree.set_player, np.diff(tree.set_choices))
    values = []
    for seat in range(2):
        both = Policy(tree, np.where(movers == seat, answer.probabilities, policy.probabilities))
        values.append((1 - 2 * seat) * expected_value(tree, both))
    found = sum(values) / 2
    return {"found": found, "interval": [found, found], "effort": STEPS}


def tabulate(policy: Policy, agent: Any, moves: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the exact value of a response in a table."""
    tables = TableResponder(policy.tree.game, agent, steps=moves, samples=1).train(rng)
    both = [expected_value(policy.tree, table_policy(policy, table)) for table in tables]
    found = (both[0] - both[1]) / 2
    return {"found": found, "interval": [found, found], "effort": moves}


def network_policy(tree: PublicTree, network: Any) -> Policy:
    """Return the policy that plays a network's most probable action at each information set."""
    most = lambda seen, masks: np.eye(masks.shape[1])[network.priors_and_values(seen, masks)[0].argmax(axis=1)]  # noqa: E731
    return Policy.from_function(tree, most)


def search(policy: Policy, agent: MemoizedAgent, endgame: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return the value of a search as a response, with a confidence interval."""
    responder = SearchResponder(policy.tree.game, agent, simulations=SIMULATIONS, endgame=endgame)
    values, errors = [], []
    for seat in range(2):
        shortfalls = Shortfalls(policy, seat)
        match = ResponseMatch(responder, agent, seat, GAMES, rng)
        won = match.play()
        worth = shortfalls.best - shortfalls.of(match)
        chance = (won - worth).std(ddof=1) / np.sqrt(GAMES)
        assert abs((won - worth).mean()) < 5 * chance, (won.mean(), worth.mean(), chance)
        values.append(float(worth.mean()))
        errors.append(float(worth.std(ddof=1) / np.sqrt(GAMES)))
    found, half = sum(values) / 2, 1.96 * float(np.hypot(*errors)) / 2
    return {"found": found, "interval": [found - half, found + half], "effort": SIMULATIONS}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as a readable table."""
    lines = [
        machine(),
        "",
        "found: what the response wins, mean of both seats (of a search with a 95% interval); share: of the exact",
        "exploitability; effort: simulations per move, or moves from which a table or a network learns; seconds:",
        "processor time; networks were trained with pbm-envs 0.1.0",
        "",
        f"{'rung':<4} {'agent':<22} {'method':<24} {'exact':>8} {'found':>8} {'low':>8} {'high':>8} {'share':>7} "
        f"{'effort':>8} {'seconds':>8}",
    ]
    for row in rows:
        low, high = row["interval"]
        lines.append(
            f"{row['rung']:<4} {row['agent']:<22} {row['method']:<24} {row['exact']:8.4f} {row['found']:8.4f} "
            f"{low:8.4f} {high:8.4f} {row['found'] / row['exact']:7.1%} {row['effort']:8,} {row['seconds']:8.1f}"
        )
    lines.append("")
    for method in METHODS:
        for first, last in ((1, 3), (4, 7)):
            some = [row for row in rows if row["method"] == method and first <= row["rung"] <= last]
            if some:
                least = min(row["found"] / row["exact"] for row in some)
                lines.append(f"least share, {method}, rungs {first} to {max(row['rung'] for row in some)}: {least:.1%}")
    return "\n".join(lines) + "\n"


def main(
    rungs: Annotated[list[int] | None, typer.Option(help="Of the ladder.")] = None,
    moves: Annotated[int, typer.Option(help="Moves from which a table learns.")] = 3_000_000,
) -> None:
    """Measure the rows that are missing."""
    path = RESULTS / "approximate_responses.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(row["rung"], row["agent"], row["method"]) for row in rows}
    for rung in rungs or range(1, 8):
        tree = PublicTree.build(make_game(f"curio-ladder-{rung}"))
        for name in AGENTS:
            missing = [
                method
                for method in METHODS
                if (rung, name, method) not in known and rung <= min(SLOW.get(name, 9), SLOW.get(method, 9))
            ]
            if not missing:
                continue
            player: Any = PolicyAgent(solvers.CFR(tree).run(5)) if name == CFR else make_agent(name)
            agent = MemoizedAgent(player, SAMPLES)
            policy = agent_policy(tree, agent)
            exact = exploitability(tree, policy)
            for method in missing:
                spent, rng = time.process_time(), np.random.default_rng(rung)
                if method == "network":
                    row = learn(policy, agent, rng)
                elif method == "table":
                    row = tabulate(policy, agent, moves, rng)
                else:
                    row = search(policy, agent, SearchResponder.endgame if method != "search" else 0.0, rng)
                row = {"rung": rung, "agent": name, "method": method, "exact": exact} | row
                rows.append(row | {"seconds": time.process_time() - spent})
                print(rows[-1], flush=True)
                path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows.sort(key=lambda row: (row["rung"], AGENTS.index(row["agent"]), METHODS.index(row["method"])))
    text = table(rows)
    (RESULTS / "approximate_responses.txt").write_text(text)
    print(text)


if __name__ == "__main__":
    typer.run(main)
