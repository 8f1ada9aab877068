"""Train an agent in NumPy by self-play, rate it on the frozen ladder, and film one of its games.

python docs/guides/first_agent.py runs/first --minutes 8
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from pbm_agents import PolicyAgent, evaluate
from pbm_agents.arena import Run, load_ladder, rate_on_ladder

from pbm_envs import Chameleon
from pbm_envs.records import read_records
from pbm_envs.render.animation import animate

GAME = Chameleon(size=5)
GAMES, BATCH, HIDDEN, RATE, ENTROPY = 256, 512, 192, 5e-4, 0.02
"""Games per round of self-play; positions per step of learning; units; learning rate; weight of the entropy bonus."""


def new_weights(rng):
    """Return the weights of two layers: one shared, then one for the policy's logits and the value."""
    inputs, outputs = np.prod(GAME.observation_shape), GAME.num_actions + 1
    first = rng.normal(0, np.sqrt(2 / inputs), (inputs, HIDDEN))
    return {"w1": first, "b1": np.zeros(HIDDEN), "w2": np.zeros((HIDDEN, outputs)), "b2": np.zeros(outputs)}


def forward(weights, observations, masks):
    """Return flat inputs, hidden units, log-probabilities of the legal actions, and values in -1 to 1."""
    inputs = observations.reshape(len(observations), -1).astype(np.float32)
    hidden = np.maximum(inputs @ weights["w1"] + weights["b1"], 0)
    outputs = hidden @ weights["w2"] + weights["b2"]
    logits = np.where(masks, outputs[:, :-1], -1e9)
    logits -= logits.max(axis=1, keepdims=True)
    return inputs, hidden, logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), np.tanh(outputs[:, -1])


def self_play(weights, rng):
    """Play a round of self-play; return observations, masks, actions and the returns of the players who acted."""
    states, steps = GAME.init(GAMES, rng), []
    while not states["done"].all():
        live, players = ~states["done"], states["to_move"].copy()
        observations, masks = GAME.observe_with_mask(states, players)
        masks[~live, 0] = True  # finished games ignore actions
        logs = forward(weights, observations, masks)[2]
        actions = (logs + rng.gumbel(size=logs.shape)).argmax(axis=1)  # a sample of the policy
        GAME.step(states, actions)
        steps.append((live, observations, masks, actions, players))
    rows = [
        (observations[live], masks[live], actions[live], states["returns"][live, players[live]])
        for live, observations, masks, actions, players in steps
    ]
    return [np.concatenate(column) for column in zip(*rows, strict=True)]


def gradients(weights, observations, masks, actions, returns):
    """Return the gradients of an actor-critic loss: policy gradient, entropy bonus, squared error of the value."""
    inputs, hidden, logs, values = forward(weights, observations, masks)
    chances, rows = np.exp(logs), np.arange(len(actions))
    advantages = returns - values
    entropies = -(chances * np.where(masks, logs, 0)).sum(axis=1, keepdims=True)
    of_logits = chances * advantages[:, None] + ENTROPY * chances * (np.where(masks, logs, 0) + entropies)
    of_logits[rows, actions] -= advantages
    of_value = (values - returns) * (1 - values**2)
    of_outputs = np.column_stack([of_logits, of_value]) / len(actions)
    of_hidden = (of_outputs @ weights["w2"].T) * (hidden > 0)
    return {
        "w1": inputs.T @ of_hidden,
        "b1": of_hidden.sum(axis=0),
        "w2": hidden.T @ of_outputs,
        "b2": of_outputs.sum(axis=0),
    }


class Adam:
    """The Adam optimizer (Kingma & Ba 2015)."""

    def __init__(self, weights):
        self.mean = {name: np.zeros_like(array) for name, array in weights.items()}
        self.square, self.steps = {name: np.zeros_like(array) for name, array in weights.items()}, 0

    def step(self, weights, found):
        self.steps += 1
        scale = RATE * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for name, gradient in found.items():
            self.mean[name] += 0.1 * (gradient - self.mean[name])
            self.square[name] += 0.001 * (gradient**2 - self.square[name])
            weights[name] -= scale * self.mean[name] / (np.sqrt(self.square[name]) + 1e-8)


def policy_of(weights):
    """Return the policy that plays the likeliest action."""
    return lambda observations, masks: forward(weights, observations, masks)[2]


def trained(file):
    """Return the agent in a file. Its agent name is `first_agent:trained:file=weights.npz`."""
    with np.load(file) as arrays:
        return PolicyAgent(policy_of(dict(arrays)))


def train(file, minutes, rng):
    """Train for some minutes, print a learning curve, and keep the running mean of the weights in a file."""
    weights, began, games = new_weights(rng), time.monotonic(), 0
    optimizer, shown, mean = Adam(weights), -1.0, {name: array.copy() for name, array in weights.items()}
    while (passed := (time.monotonic() - began) / 60) < minutes or shown < 0:
        if passed - shown >= minutes / 8:
            result = evaluate(policy_of(mean), GAME, ["random", "mcts:simulations=10"], games=200)
            scores = ", ".join(f"{score.score.value:.3f} against {name}" for name, score in result.items())
            print(f"{passed:5.1f} min, {games:7,} games: {scores}", flush=True)
            shown = passed
        data = self_play(weights, rng)
        games += GAMES
        print(f"{passed:5.1f} min, {games:7,} games", end="\r", file=sys.stderr, flush=True)
        for rows in np.array_split(rng.permutation(len(data[0])), max(len(data[0]) // BATCH, 1)):
            optimizer.step(weights, gradients(weights, *(column[rows] for column in data)))
        for name, array in mean.items():
            array += (weights[name] - array) / min(games / GAMES, 50)
    np.savez(file, **mean)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="Where weights, games and film go; made if missing.")
    parser.add_argument("--minutes", type=float, default=8, help="Minutes of training.")
    parser.add_argument("--interval", type=float, default=50, help="Half width of the rating's interval, in Elo.")
    options = parser.parse_args()
    if not options.minutes > 0:
        parser.error(f"--minutes is {options.minutes}: expected a number above 0")
    options.folder.mkdir(parents=True, exist_ok=True)
    file = (options.folder / "weights.npz").absolute()
    train(file, options.minutes, np.random.default_rng(7))

    sys.path.insert(0, str(Path(__file__).parent))  # so that `first_agent` can be imported by name
    ladder = load_ladder(GAME)
    agent, run = f"first_agent:trained:file={file}", Run(progress=True)
    rating = rate_on_ladder(agent, ladder, options.folder, half_width=options.interval, run=run)
    print(rating.headline())

    longest = max(read_records(options.folder / "games.jsonl"), key=lambda record: record.plies)
    film = options.folder / "game.gif"
    animate(longest).save(film)
    print(f"{film}: {' against '.join(longest.agents)}")


if __name__ == "__main__":
    main()
