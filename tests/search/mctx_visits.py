"""Searches by DeepMind's mctx, whose visit counts `test_gumbel.py` expects of ours.

    pip install mctx
    python -m tests.search.mctx_visits

writes `mctx_visits.json`: positions, Gumbel numbers, and what mctx (in double precision) has found from the priors and
values of `fake_network`. Values are not rescaled by those that the tree holds: the range of returns is known.
"""

from __future__ import annotations

import functools
import json
from importlib.metadata import version
from pathlib import Path

import jax
import jax.numpy as jnp
import mctx
import numpy as np
from mctx import qtransform_completed_by_mix_value

from pbm_envs import make_game
from tests.reference.search import Node, evaluate
from tests.search.test_references import fake_network

GAMES = [("chameleon", {"size": 4, "swap_rule": False}), ("unlur", {"radius": 3}), ("trinim", {"size": 5})]
SETTINGS = [(16, 16, 0.1), (8, 50, 1.0), (16, 90, 0.2)]
PLIES = (1, 2, 4, 6)


class Positions:
    """A game and its evaluator, for mctx: what is called back has the positions as bytes, (B, bytes)."""

    def __init__(self, game):
        self.game, self.network = game, fake_network(game, zero_sum=True)
        self.dtype = game.init(1, np.random.default_rng(0)).dtype

    def look(self, state):
        """Logits and the value for the player to move."""
        priors, values = evaluate(self.game, Node(self.game, state, None), self.network)
        legal = np.where(priors > 0, priors, 1)
        return np.where(priors > 0, np.log(legal), -1e9), values[int(state["to_move"][0])]

    def step(self, embeddings, actions):
        """(B,) rewards for who moves, discounts, logits, values, and positions that follow."""
        rows = [self.step_one(*pair) for pair in zip(np.asarray(embeddings), np.asarray(actions), strict=True)]
        return [np.stack(part) for part in zip(*rows, strict=True)]

    def step_one(self, embedding, action):
        state = np.frombuffer(embedding.tobytes(), self.dtype).copy()
        player, nothing = int(state["to_move"][0]), np.zeros(self.game.num_actions)
        if state["done"][0]:
            return np.float64(0), np.float64(0), nothing, np.float64(0), embedding
        self.game.step(state, [int(action)])
        after = np.frombuffer(state.tobytes(), np.uint8)
        if state["done"][0]:
            return np.float64(state["returns"][0, player]), np.float64(0), nothing, np.float64(0), after
        logits, value = self.look(state)
        discount = 1.0 if int(state["to_move"][0]) == player else -1.0
        return np.float64(0), np.float64(discount), logits, np.float64(value), after

    def recurrent(self, params, key, action, embedding):
        """mctx's recurrent function."""
        count, size = embedding.shape
        shapes = [
            jax.ShapeDtypeStruct((count, *shape), kind)
            for shape, kind in (((), "f8"), ((), "f8"), ((self.game.num_actions,), "f8"), ((), "f8"), ((size,), "u1"))
        ]
        reward, discount, logits, value, after = jax.pure_callback(self.step, shapes, embedding, action)
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=value), after


def searched(game, lines, considered, simulations, value_weight, seed):
    """What mctx finds in the positions after these moves, one of `lines` each."""
    positions, starts = Positions(game), []
    for moves in lines:
        starts.append(game.init(1, np.random.default_rng(0)))
        for action in moves:
            game.step(starts[-1], [action])
    looks = [positions.look(start) for start in starts]
    logits = np.stack([each for each, _ in looks])
    root = mctx.RootFnOutput(
        prior_logits=jnp.array(logits),
        value=jnp.array([value for _, value in looks]),
        embedding=jnp.array(np.stack([np.frombuffer(start.tobytes(), np.uint8) for start in starts])),
    )
    key = jax.random.PRNGKey(seed)
    output = mctx.gumbel_muzero_policy(
        None,
        key,
        root,
        positions.recurrent,
        num_simulations=simulations,
        invalid_actions=jnp.array(logits < -1e8),
        max_num_considered_actions=considered,
        qtransform=functools.partial(
            qtransform_completed_by_mix_value, value_scale=value_weight / 2, maxvisit_init=50, rescale_values=False
        ),
    )
    gumbels = np.asarray(jax.random.gumbel(jax.random.split(key)[1], logits.shape, jnp.float64))
    visits = np.asarray(output.search_tree.summary().visit_counts).astype(int)
    for row, moves in enumerate(lines):
        yield {
            "moves": moves,
            "gumbels": gumbels[row].tolist(),
            "visits": visits[row].tolist(),
            "action": int(output.action[row]),
            "policy": np.round(np.asarray(output.action_weights[row]), 7).tolist(),
        }


def moves_to(game, plies, rng):
    """Random moves to a position that is not over."""
    while True:
        state, moves = game.init(1, rng), []
        for _ in range(plies):
            mask = game.legal_action_mask(state)[0]
            if not mask.any():
                break
            moves.append(int(rng.choice(np.flatnonzero(mask))))
            game.step(state, [moves[-1]])
        if not state["done"][0]:
            return moves


def main() -> None:
    """Write the file."""
    jax.config.update("jax_enable_x64", True)
    rng, cases = np.random.default_rng(7), []
    for name, options in GAMES:
        game = make_game(name, **options)
        for considered, simulations, weight in SETTINGS:
            how = {"game": name, "options": options, "considered": considered, "simulations": simulations}
            lines = [moves_to(game, plies, rng) for plies in PLIES]
            found = searched(game, lines, considered, simulations, weight, len(cases))
            cases += [how | {"value_weight": weight} | each for each in found]
            print(name, simulations, flush=True)
    found = {"mctx": version("mctx"), "jax": version("jax"), "cases": cases}
    lines = ",\n".join(json.dumps(case) for case in cases)
    head = json.dumps({key: value for key, value in found.items() if key != "cases"})[:-1]
    Path(__file__).with_name("mctx_visits.json").write_text(f'{head}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
