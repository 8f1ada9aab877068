"""AlphaZero's training on one machine (extra `torch`): self-play in processes, a learner, a gatekeeper, checkpoints.

    curve = train(Chameleon(size=3), "runs/chameleon", Training(rounds=2, games=32))
    make_agent("mcts:simulations=50,gumbel=16,network=runs/chameleon/network.pt")

A *round* is some games of self-play with the best network so far, some updates of the learner's network, and games
against frozen opponents and against the best network, which decide whether the learner's is the best from now on.

The folder holds `training.json`, the game and the settings; `checkpoint.pt`, the networks, the optimizer and the curve
after the last round; `network.pt`, the best network, and `network.onnx` with the extra `onnx`; `curve.csv`, a line for
each round, and at the end its picture (extra `plot`); `buffer`, the newest examples; and `self_play`, what belongs to
the round that is under way.

All is written in one piece, and all that is random follows from the seed, the round and the batch of games. So a run
that was killed at any moment goes on when it is called again, and finds what it would have found.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from math import ceil, log10
from pathlib import Path
from time import perf_counter
from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.core.checks import check_number, check_range

from ..search import Search
from .network import PolicyValueNetwork, read, write
from .replay_buffer import ReplayBuffer
from .self_play import SelfPlay, self_play
from .training_data import Examples, joined
from .training_log import TrainingLog
from .work import Crew

try:
    import torch
except ImportError:
    raise ImportError("training needs PyTorch: pip install 'pbm-envs[torch]'") from None

FORMAT = "pbm_agents.learning.trainer 1"


@final
@dataclass(frozen=True)
class Training:
    """The settings of a run.

    Attributes:
        rounds: Of self-play and learning. A run can be prolonged: more rounds than it had go on where it ended.
        games: Of self-play in a round.
        simulations: Of each move in self-play.
        gumbel: Actions that sequential halving considers at the root, as in `Search`; 0: PUCT with Dirichlet noise.
        full_share: Share of the positions that are searched in full and learned from, as in `SelfPlay`.
        quick_simulations: Of the others.
        exploring_plies: Moves are drawn in so many plies of a game; then the best one found is played.
        resign_below: A player whose search expects less gives up; None: nobody does.
        imitation_rounds: First rounds, whose games are played by the search with random playouts: a warm start.
        imitation_simulations: Of each move there.
        reuse: How often a position is learned from, on average, in the round in which it is new.
        batch: Positions of an update.
        learning_rate: Of AdamW.
        weight_decay: Of AdamW.
        capacity: Examples that are kept, of the newest games.
        hidden: Units of a layer of the network.
        layers: Of the network.
        opponents: Agents by name that never change, to measure progress by.
        evaluation_games: Against each of them after a round; 0: none.
        evaluation_simulations: Of the network's moves there, and of both networks' in the gatekeeper's games.
        gate_games: Against the best network so far, from which a network that scores its fair share or more takes over.
            0: the newest network always does.
        seed: Decides all that is random.
    """

    rounds: int = 20
    games: int = 64
    simulations: int = 48
    gumbel: int = 16
    full_share: float = 1.0
    quick_simulations: int = 12
    exploring_plies: int = 12
    resign_below: float | None = None
    imitation_rounds: int = 0
    imitation_simulations: int = 400
    reuse: float = 8.0
    batch: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    capacity: int = 50_000
    hidden: int = 128
    layers: int = 3
    opponents: tuple[str, ...] = ("random", "mcts:simulations=100")
    evaluation_games: int = 40
    evaluation_simulations: int = 48
    gate_games: int = 40
    seed: int = 1

    def __post_init__(self) -> None:
        for name in (
            "rounds",
            "games",
            "simulations",
            "batch",
            "capacity",
            "imitation_simulations",
            "hidden",
            "layers",
        ):
            check_range(name, getattr(self, name), 1)
        check_range("evaluation_simulations", self.evaluation_simulations, 1)
        for name in ("gumbel", "imitation_rounds", "evaluation_games", "gate_games", "seed"):
            check_range(name, getattr(self, name), 0)
        for name in ("reuse", "learning_rate"):
            check_number(name, getattr(self, name), 1e-9, 1e9)
        check_number("weight_decay", self.weight_decay, 0, 1e9)
        given: Any = self.opponents
        if isinstance(given, str):
            raise ValueError(f"opponents is {given!r}: expected several names, such as ({given!r},)")
        self.self_play_settings()

    def self_play_settings(self) -> SelfPlay:
        """How games of self-play are played."""
        return SelfPlay(
            exploring_plies=self.exploring_plies,
            resign_below=self.resign_below,
            full_share=self.full_share,
            quick_simulations=self.quick_simulations,
        )

    def self_play_search(self, evaluator: Any) -> Search:
        """What plays them; without an evaluator, that of the imitation rounds."""
        if evaluator is None:
            return Search(simulations=self.imitation_simulations)
        if self.gumbel:
            return Search(simulations=self.simulations, evaluator=evaluator, gumbel=self.gumbel, gumbel_noise=1.0)
        return Search(simulations=self.simulations, evaluator=evaluator, noise=0.25)

    def playing_search(self, evaluator: Any) -> Search:
        """What plays for a network in evaluations."""
        return Search(simulations=self.evaluation_simulations, evaluator=evaluator, gumbel=self.gumbel)


BATCH_OF_GAMES = 16
"""Games that are played side by side in a process."""
OPENING_MOVES = 2
"""Random moves that games of evaluations begin with."""


def train(
    game: Game,
    out: str | Path,
    settings: Training | None = None,
    *,
    workers: int = 1,
    tensorboard: bool = False,
) -> list[dict[str, Any]]:
    """Train a network for a game, or go on with a run that was stopped.

    Args:
        game: Any game, for any number of players. The network sees what `Game.observe` shows of views.
        out: The folder of the run.
        settings: None: the defaults.
        workers: Processes that play; 1: none but this. The result does not depend on it. A script with several needs
            `if __name__ == "__main__":`.
        tensorboard: Write for TensorBoard, too.

    Returns:
        The curve: for each round, by name, positions, losses, seconds, scores and Elo.

    Raises:
        ValueError: If the folder holds a run with other settings, or something else; for an agent that there is not.
    """
    check_range("workers", workers, 1)
    run = _Run(game, Path(out), settings or Training())
    with Crew(workers) as crew:
        return run.go_on(crew, tensorboard)


@final
class _Run:
    """A run: what is in its folder, and the networks."""

    def __init__(self, game: Game, out: Path, settings: Training) -> None:
        from ..players.names import make_agent  # which stands above

        for name in settings.opponents:
            make_agent(name)  # ValueError, before anything is written
        self.game, self.out, self.settings = game, out, settings
        _open(game, out, settings)
        torch.manual_seed(settings.seed)
        self.learner = PolicyValueNetwork(game, settings.hidden, settings.layers)
        self.best = PolicyValueNetwork(game, settings.hidden, settings.layers)
        self.best.load_state_dict(self.learner.state_dict())
        self.optimizer = torch.optim.AdamW(
            self.learner.parameters(), settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.curve: list[dict[str, Any]] = []
        self.added = 0  # to the buffer, before the round that is under way
        if (out / "checkpoint.pt").exists():
            self._restore(read(out / "checkpoint.pt"))
        if not (out / "buffer" / "buffer.json").exists():  # killed while it was made
            shutil.rmtree(out / "buffer", ignore_errors=True)
        self.buffer = ReplayBuffer(out / "buffer", game, settings.capacity)

    def _restore(self, saved: dict[str, Any]) -> None:
        self.learner.load_state_dict(saved["learner"])
        self.best.load_state_dict(saved["best"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.curve, self.added = saved["curve"], saved["added"]

    def go_on(self, crew: Crew, tensorboard: bool) -> list[dict[str, Any]]:
        """Play the rounds that are missing."""
        settings, done = self.settings, len(self.curve)
        with TrainingLog(
            self.out,
            settings.rounds * settings.games,
            unit="game",
            curve=self.curve,
            done=done * settings.games,
            tensorboard=tensorboard,
        ) as log:
            self._write_network()  # a run that was killed may have had no time for this, and for the next
            for file in (self.out / "self_play").glob("*.npz"):
                if int(file.name.partition("-")[0]) < done:
                    file.unlink()
            for number in range(done, settings.rounds):
                line = self._round(number, crew, log)
                self._finish(line)
                log.record(line, step=number + 1)
                log.say(_words(line))
            if self.curve:
                self._plot(log)
        return self.curve

    def _round(self, number: int, crew: Crew, log: TrainingLog) -> dict[str, Any]:
        """Play, learn, and see what it was good for. The line of the curve."""
        began, imitating = perf_counter(), number < self.settings.imitation_rounds
        examples = self._play(number, crew, log, None if imitating else self._evaluator(self.best))
        played = perf_counter()
        if self.buffer.added == self.added:
            self.buffer.add(examples)
        elif self.buffer.added != self.added + len(examples.returns):
            raise ValueError(f"the buffer in {str(self.out)!r} does not fit its checkpoint: expected a folder of train")
        policy_loss, value_loss = self._learn(number, len(examples.returns))
        learned = perf_counter()
        line: dict[str, Any] = {
            "round": number + 1,
            "games": (number + 1) * self.settings.games,
            "positions": self.buffer.added,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
        }
        line |= self._measure(number, crew, always=imitating)
        line["seconds"] = (self.curve[-1]["seconds"] if self.curve else 0.0) + perf_counter() - began
        line["positions_a_second"] = len(examples.returns) / max(1e-9, played - began)
        line["learning_seconds"], line["evaluation_seconds"] = learned - played, perf_counter() - learned
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in line.items()}

    def _play(self, number: int, crew: Crew, log: TrainingLog, evaluator: Any) -> Examples:
        """The round's games: those that are on the disk, and those that are missing."""
        settings, folder = self.settings, self.out / "self_play"
        folder.mkdir(exist_ok=True)
        search, how = settings.self_play_search(evaluator), settings.self_play_settings()
        sizes = [min(BATCH_OF_GAMES, settings.games - k) for k in range(0, settings.games, BATCH_OF_GAMES)]
        files = [folder / f"{number}-{k}.npz" for k in range(len(sizes))]
        jobs, positions, began = {}, 0, perf_counter()
        for k, (file, size) in enumerate(zip(files, sizes, strict=True)):
            if file.exists():
                log.advance(size)
            else:
                jobs[k] = (self.game, search, size, (settings.seed, number, k), how)
        last = self.curve[-1] if self.curve else {}
        shown = {name: last[name] for name in ("policy_loss", "value_loss", "elo") if name in last}
        for k, examples in crew.run(_play_batch, jobs):
            _save(files[k], examples)
            positions += len(examples.returns)
            log.advance(sizes[k], **{"positions/s": positions / (perf_counter() - began)}, **shown)
        parts = [_load(file) for file in files]
        return joined(part._replace(games=part.games + k * BATCH_OF_GAMES) for k, part in enumerate(parts))

    def _learn(self, number: int, new: int) -> tuple[float, float]:
        """Update the learner's network; the mean losses."""
        settings, rng = self.settings, np.random.default_rng((self.settings.seed, number))
        updates = ceil(new * settings.reuse / settings.batch)
        losses = np.zeros(2)
        self.learner.train()
        for _ in range(updates):
            batch = self.buffer.sample(settings.batch, rng)
            logits, values = self.learner(torch.from_numpy(batch.observations), torch.from_numpy(batch.masks))
            policy_loss = -(torch.from_numpy(batch.policies) * logits.log_softmax(dim=1)).sum(dim=1).mean()
            value_loss = (values - torch.from_numpy(batch.returns)).square().mean()
            self.optimizer.zero_grad()
            (policy_loss + value_loss).backward()
            torch.nn.utils.clip_grad_norm_(self.learner.parameters(), 1.0)
            self.optimizer.step()
            losses += policy_loss.item(), value_loss.item()
        self.learner.eval()
        policy_mean, value_mean = (losses / max(1, updates)).tolist()
        return policy_mean, value_mean

    def _measure(self, number: int, crew: Crew, always: bool) -> dict[str, Any]:
        """Games of the learner's network: scores, and whether it is the best from now on."""
        settings = self.settings
        mine = settings.playing_search(self._evaluator(self.learner))
        jobs: dict[str, Any] = {}
        seed = (settings.seed * 1_000_003 + number) * 10_007
        if settings.evaluation_games:
            for name in settings.opponents:
                jobs[name] = (mine, self.game, name, settings.evaluation_games, seed)
        if settings.gate_games and not always:
            best = settings.playing_search(self._evaluator(self.best))
            jobs[""] = (mine, self.game, best, settings.gate_games, seed + 1)
        scores: Mapping[str, float] = dict(crew.run(_evaluate, jobs))
        line: dict[str, Any] = {f"against {name}": scores[name] for name in settings.opponents if name in scores}
        if settings.opponents and settings.opponents[-1] in scores:
            line["elo"] = elo(scores[settings.opponents[-1]], settings.evaluation_games, self.game.num_players)
        line["taken"] = True
        if "" in scores:
            line |= {"against best": scores[""], "taken": scores[""] >= 1 / self.game.num_players}
        if line["taken"]:
            self.best.load_state_dict(self.learner.state_dict())
        return line

    def _finish(self, line: dict[str, Any]) -> None:
        """The round is over: everything is on the disk."""
        self.curve.append(line)
        self.added = self.buffer.added
        state = {"learner": self.learner.state_dict(), "best": self.best.state_dict()}
        state |= {"optimizer": self.optimizer.state_dict(), "curve": self.curve, "added": self.added}
        write(state, self.out / "checkpoint.pt")
        self._write_network()
        shutil.rmtree(self.out / "self_play")

    def _write_network(self) -> None:
        self.best.eval().save(self.out / "network.pt")
        if _has_onnx():
            _export(self.best, self.out / "network.onnx")

    def _evaluator(self, network: PolicyValueNetwork) -> Any:
        """In ONNX Runtime where that is installed: faster, and it goes to processes as bytes."""
        if not _has_onnx():
            return network.eval().evaluator()
        from .onnx_evaluator import OnnxEvaluator

        path = self.out / "self_play" / "network.onnx"
        path.parent.mkdir(exist_ok=True)
        _export(network, path)
        return OnnxEvaluator(path)

    def _plot(self, log: TrainingLog) -> None:
        from ..arena.plots import plot_training, save_plot  # which stands above

        try:
            figure = plot_training(self.curve, f"{self.game!r}")
        except ImportError as error:
            log.say(str(error))
        else:
            save_plot(figure, self.out / "curve")


def elo(score: float, games: int, players: int = 2) -> float:
    """The difference in Elo that a score means; of three players, against two equal opponents.

    >>> round(elo(0.75, 1000)), round(elo(1.0, 40)), round(elo(1 / 3, 10**9, players=3))
    (190, 763, 0)

    Args:
        score: From 0 to 1.
        games: Of which it is the mean: at 0 and 1 half a point is supposed to be missing.
        players: In each of them.
    """
    kept = (score * games + 0.5) / (games + 1)
    return 400 * log10(kept * (players - 1) / (1 - kept))


def _open(game: Game, out: Path, settings: Training) -> None:
    """Make the folder of a run; ValueError if it holds another run, or something else."""
    about = {"format": FORMAT, "game": game.name, "options": dict(game.options), "settings": asdict(settings)}
    about, path = json.loads(json.dumps(about)), out / "training.json"
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{str(path)!r} cannot be read: expected what train has written") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is of no run of this version: expected what train has written")
        theirs, ours = _flat(found), _flat(about)
        other = {name: value for name, value in theirs.items() if name != "rounds" and value != ours.get(name)}
        if other:
            raise ValueError(f"{str(out)!r} holds a run with other settings, {other}: expected these, or a new folder")
    elif out.is_dir() and any(file.name != "training.json.part" for file in out.iterdir()):
        raise ValueError(f"{str(out)!r} holds something else: expected a folder of train, or a new or empty one")
    out.mkdir(parents=True, exist_ok=True)
    part = out / "training.json.part"
    part.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    os.replace(part, path)


def _flat(about: dict[str, Any]) -> dict[str, Any]:
    return {"game": about.get("game"), **about.get("options", {}), **about.get("settings", {})}


def _play_batch(job: tuple[Game, Search, int, tuple[int, ...], SelfPlay]) -> Examples:
    game, search, games, seed, how = job
    return self_play(game, search, games, np.random.default_rng(seed), how)


def _evaluate(job: tuple[Search, Game, Any, int, int]) -> float:
    """The score of a search against an opponent."""
    from ..arena.evaluation import evaluate  # which stands above

    search, game, opponent, games, seed = job
    results = evaluate(search, game, {"opponent": opponent}, games=games, seed=seed, opening_moves=OPENING_MOVES)
    return results["opponent"].score.value


def _save(file: Path, examples: Examples) -> None:
    """In one piece."""
    part = file.with_name(f"{file.name}.part")
    with open(part, "wb") as stream:
        np.savez(stream, **examples._asdict())
    os.replace(part, file)


def _load(file: Path) -> Examples:
    with np.load(file) as arrays:
        return Examples(**{name: arrays[name] for name in Examples._fields})


def _has_onnx() -> bool:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError:
        return False
    return True


def _export(network: PolicyValueNetwork, path: Path) -> None:
    """As ONNX, without what PyTorch says of it each time."""
    from .onnx_evaluator import export_onnx

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        export_onnx(network, path)


def _words(line: Mapping[str, Any]) -> str:
    """A line of the curve for people."""
    parts: Iterator[str] = (f"{name} {value:.2f}" for name, value in line.items() if name.startswith("against "))
    rating = f", Elo {line['elo']:+.0f}" if "elo" in line else ""
    taken = "" if line["taken"] else "; the network before stays the best"
    return (
        f"round {line['round']}: {line['positions']:,} positions, {line['positions_a_second']:.0f} a second, losses "
        f"{line['policy_loss']:.3f} and {line['value_loss']:.3f}; {', '.join(parts)}{rating}{taken}"
    )
