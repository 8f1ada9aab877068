"""AlphaZero's training (extra `torch`): self-play in processes or on a Ray cluster, learner, gatekeeper, checkpoints.

    curve = train(Chameleon(size=3), "runs/chameleon", Training(rounds=2, games=32))
    make_agent("mcts:simulations=50,gumbel=16,network=runs/chameleon/network.pt")

A *round* consists of self-play games, updates of the learner's network, and games of this network against frozen
opponents and the best network so far, which decide whether it becomes the best. Three rounds are under way at the same
time: in a *step*, the games of one round are played, the learner learns from the round before, and the network of the
round before that one is evaluated. So no processor waits, and games are played by the best network of three rounds ago.

The folder holds `training.json`, the game and the settings; `checkpoint.pt`, the networks, the optimizer and the curve
after the last step; the best network, `network.npz` if it is small, else `network.pt`, and `network.onnx` with the
extra `onnx`; `curve.csv`, a line per round, and its plot (extra `plot`); `game.jsonl`, a game of the best network
against itself after the last round, and its film `game.gif` (extra `render`); `buffer`, the newest examples; and
`self_play`, the finished parts of the current step. Plot and film are drawn once a minute and at the end.

All files are written atomically, and all random numbers follow from the seed, the round and the batch of games. A run
killed at any moment therefore resumes when it is called again, and gets the same results.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import check_range
from pbm_envs.toolbox import quoted, write_text

from ..common.folders import locked
from ..common.pytorch import torch
from ..common.workers import Pool, make_pool
from ..players.names import make_agent
from .learner import Learner, check_device, make_network
from .network import read, write
from .progress import draw_pictures, evaluation_function, evaluation_jobs, in_words, measured, newest_game
from .replay_buffer import ReplayBuffer
from .round_games import (
    EVALUATION,
    SELF_PLAY,
    Job,
    forget_results,
    joined_jobs,
    run_jobs,
    self_play_function,
    self_play_jobs,
)
from .run_folder import TORCH_THREADS, check_folder, fast_evaluator, libraries, open_folder, write_network
from .settings import Training, default_training
from .training_log import TrainingLog

__all__ = ["Training", "default_training", "train"]

LEARNED = "learned"
DELAY = 3
"""A round is played by the best network of this many rounds earlier."""
SECONDS_BETWEEN_PICTURES = 60


def train(
    game: Game,
    out: str | Path,
    settings: Training | None = None,
    *,
    workers: int = 1,
    ray: bool | str = False,
    tensorboard: bool = False,
    accept_changes: bool = False,
    device: str = "cpu",
) -> list[dict[str, Any]]:
    """Train a network for a game, or resume a run that was stopped.

    Args:
        game: Any game, for any number of players. The network sees the observations (`Game.observe`) of views.
        out: The folder of the run.
        settings: The settings (default: `default_training(game)`).
        workers: Number of processes that play; with 1, only this process plays. The result does not depend on it. A
            script with several needs `if __name__ == "__main__":`.
        ray: The address of a Ray cluster that plays instead, while this process learns; True: the running cluster, or
            one started on this machine. Its machines need this package with its extras, and the packages of your own
            games and agents, but no shared folder.
        tensorboard: Also write TensorBoard events.
        accept_changes: Resume although this package, an opponent or a library has changed since the folder was made;
            `training.json` records it.
        device: The device on which PyTorch learns, such as "cuda". Self-play stays on the processors.

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
    out, settings, threads = Path(out), settings or default_training(game), torch.get_num_threads()
    _check(game, out, settings)
    check_device(device)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with locked(out, "training"):
            open_folder(game, out, settings, accept_changes, device)
            torch.set_num_threads(TORCH_THREADS)
            run = _Run(game, out, settings, device, beside=workers > 1 or bool(ray))
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


class _Step(NamedTuple):
    """What a step does: the rounds, from 0, that it plays, learns from and evaluates. None: nothing."""

    play: int | None
    learn: int | None
    evaluate: int | None


@final
class _Run:
    """A training run: the contents of its folder, and the networks."""

    def __init__(self, game: Game, out: Path, settings: Training, device: str, beside: bool) -> None:
        """Start a run, or read its checkpoint; `beside`: the learner learns while other processes play."""
        self.game, self.out, self.settings, self.beside = game, out, settings, beside
        torch.manual_seed(settings.seed)
        self.learner = Learner(game, settings, device)
        self.players = [_copied(self.learner.network.state_dict())] * DELAY
        """The weights that play the rounds after the last one evaluated; the last is the best network so far."""
        self.curve: list[dict[str, Any]] = []
        self.lines: list[dict[str, Any]] = []
        """The beginnings of the lines of rounds that are played and not yet evaluated."""
        self.learned = self.added = 0
        self.seconds = self.processor_seconds = 0.0
        self.counted = self.drawn = perf_counter()
        self.processor_counted = process_time()
        """`counted`, `processor_counted`: when time was last counted; `drawn`: when pictures were last drawn."""
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

    @property
    def played(self) -> int:
        """The number of rounds whose games are in the buffer."""
        return len(self.curve) + len(self.lines)

    def _restore(self, saved: dict[str, Any]) -> None:
        self.learner.restore(saved)
        self.players, self.curve, self.lines = saved["players"], saved["curve"], saved["lines"]
        self.learned, self.added = saved["learned"], saved["added"]
        self.seconds, self.processor_seconds = saved["seconds"], saved["processor_seconds"]

    def go_on(self, pool: Pool, tensorboard: bool) -> list[dict[str, Any]]:
        """Run the missing rounds, and return the curve."""
        settings = self.settings
        with TrainingLog(
            self.out,
            settings.rounds * settings.games,
            unit="game",
            curve=self.curve,
            done=self.played * settings.games,
            tensorboard=tensorboard,
        ) as log:
            self._write_best()  # a killed run may have skipped this and the next line
            forget_results(self.out / "self_play", self._done())
            if len(self.curve) >= settings.rounds:
                log.say(f"nothing is left to do: all {len(self.curve)} rounds are done; more rounds prolong the run")
            while len(self.curve) < settings.rounds:
                before = len(self.curve)
                self._step(pool, log)
                for line in self.curve[before:]:
                    log.record(line, step=line["round"])
                    log.say(in_words(line))
                    if perf_counter() - self.drawn > SECONDS_BETWEEN_PICTURES:
                        self._draw()
            for reason in self._draw():
                log.say(reason)
        return self.curve

    def _done(self) -> dict[str, int]:
        """Return the numbers of rounds that are played, learned and evaluated, by kind of file."""
        return {SELF_PLAY: self.played, LEARNED: self.learned, EVALUATION: len(self.curve)}

    def _next(self) -> _Step:
        evaluated, played = len(self.curve), self.played
        return _Step(
            played if played < self.settings.rounds else None,
            self.learned if self.learned < played else None,
            evaluated if evaluated < self.learned else None,
        )

    def _step(self, pool: Pool, log: TrainingLog) -> None:
        """Play, learn and evaluate a round each, at the same time; then write the checkpoint."""
        began, step, folder = perf_counter(), self._next(), self.out / "self_play"
        folder.mkdir(exist_ok=True)
        jobs, functions = self._jobs(step)
        candidate = _copied(self.learner.network.state_dict())
        results: dict[str, Any] = {}
        positions, elsewhere, evaluation_seconds = None, 0.0, 0.0
        with self._learning(step.learn) as losses:
            for name, result, spent in run_jobs(pool, functions, jobs, folder):
                results[name] = result
                if spent is not None and self.beside:
                    elsewhere += spent.processor_seconds
                if jobs[name].kind == EVALUATION:
                    evaluation_seconds += 0.0 if spent is None else spent.seconds
                elif spent is None:
                    log.skip(jobs[name].job[0])
                else:
                    positions = (positions or 0) + len(result.returns)
                    log.advance(jobs[name].job[0], **self._shown(positions / (perf_counter() - began)))
            learned = losses()
        if step.play is not None:
            self._keep_examples(joined_jobs(jobs, results))
            speed = None if positions is None else positions / (perf_counter() - began)
            self.lines.append(
                {
                    "round": step.play + 1,
                    "games": (step.play + 1) * self.settings.games,
                    "positions": self.buffer.added,
                    "positions_a_second": speed,  # of games played now, not of those found on disk
                }
            )
        if learned is not None:
            self.lines[self.learned - len(self.curve)] |= learned
            self.learned += 1
        self._count_time(elsewhere)
        if step.evaluate is not None:
            scores = [(job.job[0], results[name]) for name, job in jobs.items() if job.kind == EVALUATION]
            self._finish_round(step.evaluate, scores, candidate, evaluation_seconds)
        self._write_checkpoint()
        shutil.rmtree(folder)

    def _count_time(self, elsewhere: float) -> None:
        """Add the time since the last call; `elsewhere` are the processor seconds of other processes."""
        now, used = perf_counter(), process_time()
        self.seconds += now - self.counted
        self.processor_seconds += used - self.processor_counted + elsewhere
        self.counted, self.processor_counted = now, used

    def _jobs(self, step: _Step) -> tuple[dict[str, Job], dict[str, Callable[[Any], Any]]]:
        """Return the jobs of a step by name, and the function for each kind."""
        settings = self.settings
        jobs: dict[str, Job] = {}
        functions: dict[str, Callable[[Any], Any]] = {}
        if step.evaluate is not None:  # first, since its jobs are the longest
            gate = settings.gate_games > 0 and step.evaluate >= settings.imitation_rounds
            jobs |= evaluation_jobs(self.game, settings, step.evaluate, gate)
            mine = fast_evaluator(self.learner.network)
            best = self._evaluator(self.players[-1]) if gate else None
            functions[EVALUATION] = evaluation_function(self.game, settings, mine, best)
        if step.play is not None:
            jobs |= self_play_jobs(settings, step.play)
            imitating = step.play < settings.imitation_rounds
            player = None if imitating else self._evaluator(self.players[step.play - len(self.curve)])
            functions[SELF_PLAY] = self_play_function(self.game, settings, player)
        return jobs, functions

    def _evaluator(self, weights: dict[str, Any]) -> Any:
        return fast_evaluator(self._network(weights))

    def _network(self, weights: dict[str, Any]) -> Any:
        """Return a network with these weights, on the processor; random numbers stay as they are."""
        with torch.random.fork_rng(devices=[]):
            network = make_network(self.game, self.settings)
        network.load_state_dict(weights)
        return network

    @contextmanager
    def _learning(self, number: int | None) -> Iterator[Callable[[], dict[str, Any] | None]]:
        """Learn from a round, in a thread if other processes play; yield a function that waits for the result."""
        if number is None:
            yield lambda: None
        elif not self.beside:
            learned = self._learn(number, lambda: False)
            yield lambda: learned
        else:
            stop = threading.Event()
            with ThreadPoolExecutor(1) as pool:
                try:
                    yield pool.submit(self._learn, number, stop.is_set).result
                except BaseException:
                    stop.set()
                    raise

    def _learn(self, number: int, stopped: Callable[[], bool]) -> dict[str, Any] | None:
        """Learn from the buffer after round `number`, unless a killed run has; return losses and seconds."""
        path = self.out / "self_play" / f"{LEARNED}-{number}.pt"
        if path.exists():
            saved = read(path)
            self.learner.restore(saved)
            found: dict[str, Any] = saved["line"]
            return found
        settings, began = self.settings, perf_counter()
        new = self.lines[number - len(self.curve)]["positions"] - self._positions_before(number)
        rng = np.random.default_rng((settings.seed, number))
        line: dict[str, Any] = self.learner.learn(
            self.buffer, ceil(new * settings.reuse / settings.batch), rng, stopped
        )
        if stopped():
            return None
        line["learning_seconds"] = perf_counter() - began
        write(self.learner.state() | {"line": line}, path)
        return line

    def _positions_before(self, number: int) -> int:
        """Return the number of positions of the rounds before this one, which is not evaluated yet."""
        before = [*self.curve, *self.lines][number - 1] if number else {"positions": 0}
        return int(before["positions"])

    def _keep_examples(self, examples: Any) -> None:
        """Add a round's examples to the buffer, unless a killed run has."""
        if self.buffer.added == self.added:
            self.buffer.add(examples)
        elif self.buffer.added != self.added + len(examples.returns):
            raise ValueError(f"the buffer in {str(self.out)!r} does not fit its checkpoint: expected a folder of train")
        self.added = self.buffer.added

    def _shown(self, speed: float) -> dict[str, float]:
        """Return what the bar shows: the speed, and the last losses and Elo."""
        last = self.curve[-1] if self.curve else {}
        return {"positions/s": speed} | {
            name: last[name] for name in ("policy_loss", "value_loss", "elo") if name in last
        }

    def _finish_round(
        self, number: int, scores: list[tuple[str, Any]], candidate: dict[str, Any], seconds: float
    ) -> None:
        """Complete the line of a round; its network becomes the best, or does not."""
        settings = self.settings
        line = self.lines.pop(0) | measured(self.game, scores, settings.opponents[-1] if settings.opponents else None)
        line |= {"seconds": self.seconds, "processor_seconds": self.processor_seconds, "evaluation_seconds": seconds}
        self.curve.append(
            {name: round(value, 4) if isinstance(value, float) else value for name, value in line.items()}
        )
        self.players = [*self.players[1:], candidate if line["taken"] else self.players[-1]]
        self._write_best()
        record = newest_game(self.game, settings, self._evaluator(self.players[-1]), number)
        write_text(self.out / "game.jsonl", record.to_json() + "\n")

    def _write_best(self) -> None:
        write_network(self._network(self.players[-1]), self.out)

    def _write_checkpoint(self) -> None:
        state = self.learner.state() | {"players": self.players, "curve": self.curve, "lines": self.lines}
        state |= {"learned": self.learned, "added": self.added}
        state |= {"seconds": self.seconds, "processor_seconds": self.processor_seconds}
        write(state, self.out / "checkpoint.pt")

    def _draw(self) -> list[str]:
        """Draw the curve and the newest game, and return which extras are missing."""
        self.drawn = perf_counter()
        return draw_pictures(self.game, self.curve, self.out)


def _copied(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of weights on the processor, which learning does not change."""
    return {name: part.detach().cpu().clone() for name, part in weights.items()}
