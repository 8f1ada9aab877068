"""AlphaZero's training (extra `torch`): self-play in processes or on a Ray cluster, learner, gatekeeper, checkpoints.

    curve = train(Chameleon(size=3), "runs/chameleon", Training(rounds=2, games=32))
    make_agent("mcts:simulations=50,gumbel=16,network=runs/chameleon/network.pt")

A *round* consists of self-play games with the best network so far, updates of the learner's network, and games against
frozen opponents and the best network, which decide whether the learner's network becomes the best.

The folder holds `training.json`, the game and the settings; `checkpoint.pt`, the networks, the optimizer and the curve
after the last round; `network.pt`, the best network, and `network.onnx` with the extra `onnx`; `curve.csv`, a line per
round, and at the end its plot (extra `plot`); `buffer`, the newest examples; and `self_play`, the games of the current
round.

All files are written atomically, and all random numbers follow from the seed, the round and the batch of games. A run
killed at any moment therefore resumes when it is called again, and gets the same results.
"""

from __future__ import annotations

import shutil
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range
from pbm_envs.toolbox import install_command, quoted

from ..arena.plots import plot_training, save_plot
from ..common.folders import locked
from ..common.workers import Pool, make_pool
from ..players.names import make_agent
from .progress import in_words, measure
from .replay_buffer import ReplayBuffer
from .round_games import forget_rounds, play_round
from .settings import Training
from .training_data import Examples
from .training_log import TrainingLog

try:
    import torch
except ImportError:
    raise ImportError(f"training needs PyTorch: {install_command('torch')}") from None

from .critic import Critic
from .network import PolicyValueNetwork, read, write
from .run_folder import TORCH_THREADS, check_folder, fast_evaluator, libraries, open_folder, write_network

__all__ = ["Training", "train"]


def train(
    game: Game,
    out: str | Path,
    settings: Training | None = None,
    *,
    workers: int = 1,
    ray: bool | str = False,
    tensorboard: bool = False,
    accept_changes: bool = False,
) -> list[dict[str, Any]]:
    """Train a network for a game, or resume a run that was stopped.

    Args:
        game: Any game, for any number of players. The network sees the observations (`Game.observe`) of views.
        out: The folder of the run.
        settings: The settings (default: `Training()`).
        workers: Number of processes that play; with 1, only this process plays. The result does not depend on it. A
            script with several needs `if __name__ == "__main__":`.
        ray: The address of a Ray cluster that plays instead, while this process learns; True: the running cluster, or
            one started on this machine. Its machines need this package with its extras, and the packages of your own
            games and agents, but no shared folder.
        tensorboard: Also write TensorBoard events.
        accept_changes: Resume although this package, an opponent or a library has changed since the folder was made;
            `training.json` records it.

    Returns:
        The curve: for each round, a dictionary with positions, losses, seconds, scores and Elo.

    Raises:
        ValueError: The folder holds a run with other settings or programs, or something else, or is in use; or an
            opponent does not exist.
        ImportError: A Ray cluster is given and the extra `ray` is not installed.
        ChildProcessError: Processes that play die repeatedly.
    """
    check_range("workers", workers, 1)
    pool = make_pool(workers, ray)
    out, settings, threads = Path(out), settings or Training(), torch.get_num_threads()
    _check(game, out, settings)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with locked(out, "training"):
            open_folder(game, out, settings, accept_changes)
            torch.set_num_threads(TORCH_THREADS)
            run = _Run(game, out, settings)
            with pool:
                pool.check([game], settings.opponents, libraries())
                return run.go_on(pool, tensorboard)
    finally:
        torch.set_num_threads(threads)


def _check(game: Game, out: Path, settings: Training) -> None:
    """Raise ValueError, before anything is written, if the training is impossible."""
    for name in settings.opponents:
        make_agent(name)
    if settings.critic_share and game.perfect_information:
        raise ValueError(f"critic_share is {settings.critic_share} in {game!r}: expected 0, as nothing is hidden")
    check_folder(out)


@final
class _Run:
    """A training run: the contents of its folder, and the networks."""

    def __init__(self, game: Game, out: Path, settings: Training) -> None:
        self.game, self.out, self.settings = game, out, settings
        torch.manual_seed(settings.seed)
        self.learner = PolicyValueNetwork(game, settings.hidden, settings.layers)
        self.best = PolicyValueNetwork(game, settings.hidden, settings.layers)
        self.best.load_state_dict(self.learner.state_dict())
        self.optimizer = torch.optim.AdamW(
            self.learner.parameters(), settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.critic = Critic(game, settings) if settings.critic_share else None
        self.curve: list[dict[str, Any]] = []
        self.added = 0  # examples added to the buffer before the current round
        if (out / "checkpoint.pt").exists():
            saved = read(out / "checkpoint.pt")
            try:
                self._restore(saved)
            except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
                what = f"{str(out / 'checkpoint.pt')!r} is not a checkpoint of this run"
                raise ValueError(f"{what} ({quoted(str(error), 100)})") from error
        if not (out / "buffer" / "buffer.json").exists():  # killed while creating it
            shutil.rmtree(out / "buffer", ignore_errors=True)
        self.buffer = ReplayBuffer(out / "buffer", game, settings.capacity, full_observations=settings.critic_share > 0)

    def _restore(self, saved: dict[str, Any]) -> None:
        self.learner.load_state_dict(saved["learner"])
        self.best.load_state_dict(saved["best"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.curve, self.added = saved["curve"], saved["added"]
        if self.critic is not None:
            self.critic.restore(saved)

    def go_on(self, pool: Pool, tensorboard: bool) -> list[dict[str, Any]]:
        """Run the missing rounds, and return the curve."""
        settings, done = self.settings, len(self.curve)
        with TrainingLog(
            self.out,
            settings.rounds * settings.games,
            unit="game",
            curve=self.curve,
            done=done * settings.games,
            tensorboard=tensorboard,
        ) as log:
            write_network(self.best, self.out)  # a killed run may have skipped this and the next line
            forget_rounds(self.out / "self_play", done)
            if done >= settings.rounds:
                log.say(f"nothing is left to do: all {done} rounds are done; more rounds prolong the run")
            for number in range(done, settings.rounds):
                line = self._round(number, pool, log)
                self._finish(line)
                log.record(line, step=number + 1)
                log.say(in_words(line))
            if self.curve:
                self._plot(log)
        return self.curve

    def _round(self, number: int, pool: Pool, log: TrainingLog) -> dict[str, Any]:
        """Play, learn and evaluate; return the line of the curve."""
        began, imitating = perf_counter(), number < self.settings.imitation_rounds
        examples, speed = self._play(number, pool, log, None if imitating else fast_evaluator(self.best, self.out))
        played = perf_counter()
        if self.buffer.added == self.added:
            self.buffer.add(examples)
        elif self.buffer.added != self.added + len(examples.returns):
            raise ValueError(f"the buffer in {str(self.out)!r} does not fit its checkpoint: expected a folder of train")
        losses = self._learn(number, len(examples.returns))
        learned = perf_counter()
        line: dict[str, Any] = {
            "round": number + 1,
            "games": (number + 1) * self.settings.games,
            "positions": self.buffer.added,
            **losses,
        }
        line |= self._measure(number, pool, always=imitating)
        line["seconds"] = (self.curve[-1]["seconds"] if self.curve else 0.0) + perf_counter() - began
        line["positions_a_second"] = speed  # of games played now, not of those found on disk
        line["learning_seconds"], line["evaluation_seconds"] = learned - played, perf_counter() - learned
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in line.items()}

    def _play(self, number: int, pool: Pool, log: TrainingLog, evaluator: Any) -> tuple[Examples, float | None]:
        """Return the round's games, and show the last losses and Elo beside the bar."""
        last = self.curve[-1] if self.curve else {}
        shown: dict[str, float] = {name: last[name] for name in ("policy_loss", "value_loss", "elo") if name in last}

        def advance(games: int, speed: float | None) -> None:
            if speed is None:
                log.skip(games)
            else:
                log.advance(games, **{"positions/s": speed} | shown)

        return play_round(self.game, self.settings, number, evaluator, self.out / "self_play", pool, advance)

    def _learn(self, number: int, new: int) -> dict[str, float]:
        """Update the learner's network, and the critic if there is one; return the mean losses."""
        settings, rng = self.settings, np.random.default_rng((self.settings.seed, number))
        updates = ceil(new * settings.reuse / settings.batch)
        losses = np.zeros(3)
        self.learner.train()
        for _ in range(updates):
            batch = self.buffer.sample(settings.batch, rng)
            logits, values = self.learner(torch.from_numpy(batch.observations), torch.from_numpy(batch.masks))
            policy_loss = -(torch.from_numpy(batch.policies) * logits.log_softmax(dim=1)).sum(dim=1).mean()
            critic_loss, targets = 0.0, torch.from_numpy(batch.returns)
            if self.critic is not None:
                critic_loss, targets = self.critic.learn(batch)
            value_loss = (values - targets).square().mean()
            self.optimizer.zero_grad()
            (policy_loss + value_loss).backward()
            torch.nn.utils.clip_grad_norm_(self.learner.parameters(), 1.0)
            self.optimizer.step()
            losses += policy_loss.item(), value_loss.item(), critic_loss
        self.learner.eval()
        policy_mean, value_mean, critic_mean = (losses / max(1, updates)).tolist()
        means = {"policy_loss": policy_mean, "value_loss": value_mean}
        return means if self.critic is None else means | {"critic_loss": critic_mean}

    def _measure(self, number: int, pool: Pool, always: bool) -> dict[str, Any]:
        """Evaluate the learner's network in games; return its scores, and whether it becomes the best."""
        mine = fast_evaluator(self.learner, self.out)
        best = None if always or not self.settings.gate_games else fast_evaluator(self.best, self.out)
        line = measure(self.game, self.settings, number, mine, best, pool)
        if line["taken"]:
            self.best.load_state_dict(self.learner.state_dict())
        return line

    def _finish(self, line: dict[str, Any]) -> None:
        """Finish a round: write the checkpoint and the best network."""
        self.curve.append(line)
        self.added = self.buffer.added
        state = {"learner": self.learner.state_dict(), "best": self.best.state_dict()}
        state |= {"optimizer": self.optimizer.state_dict(), "curve": self.curve, "added": self.added}
        if self.critic is not None:
            state |= self.critic.state()
        write(state, self.out / "checkpoint.pt")
        write_network(self.best, self.out)
        shutil.rmtree(self.out / "self_play")

    def _plot(self, log: TrainingLog) -> None:
        try:
            figure = plot_training(self.curve, f"{self.game!r}")
        except ImportError as error:
            log.say(str(error))
        else:
            save_plot(figure, self.out / "curve")
