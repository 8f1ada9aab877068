"""The games as an environment of verifiers, 0.4 and later (extra `verifiers`).

    [env.taskset]                                # verifiers' run configuration
    id = "pbm_verifiers"
    game = "unlur"
    options = {radius = 4}
    opponent = "mcts:simulations=100"

A task is a seed, which determines the set-up, the seat and the opponent's draws. The system prompt contains the rules
and the first prompt the position; after each answer the game replies as the user, with the next position or a
correction. The reward `game_return` is the seat's return. Metrics count `plies`, `illegal` and `unreadable` answers,
and `forfeited` and `unfinished` games (cut off by the run's own limits, with return 0).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, final

from ..core.checks import install_command
from ..registry import make_game
from ..text import Kind, PromptStyle, TextSeat

try:
    import verifiers.v1 as vf
except ImportError:
    raise ImportError(f"verifiers is not installed: {install_command('verifiers')}") from None


class GameTasksetConfig(vf.TasksetConfig):
    """The game, the opponent and the prompts."""

    game: str = "curio"
    """A registered name."""
    options: dict[str, Any] = {}
    """Options of the game."""
    opponent: str = "random"
    """An agent by name (`pbm_agents.make_agent`)."""
    seat: int | str = "random"
    attempts: int = 3
    disguise: int | None = None
    """The seed of made-up names, as in TextGame; -1 uses the seed of each task."""
    rules: str = "short"
    position: str = "both"
    history: int | None = None
    legal_moves: bool = False
    first_seed: int = 0
    """Seed of the first task; each further task has the next seed."""


class GameData(vf.TaskData):
    """A task as sent to workers."""

    settings: dict[str, Any]
    """The `settings` of `make_seat`."""
    seed: int


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """One game."""


class GameEnvConfig(vf.EnvConfig):
    """One seat."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})
    """The model that is evaluated or trained, without tools."""


@final
class GameTaskset(vf.Taskset[GameTask, GameTasksetConfig]):
    """An endless sequence of seeds."""

    INFINITE = True

    def load(self) -> Iterator[GameTask]:
        """Yield a task for each seed from `first_seed` on."""
        settings = {name: getattr(self.config, name) for name in SETTINGS}
        seed = self.config.first_seed
        while True:
            seat = make_seat(settings, seed)
            prompts = {"system_prompt": seat.table.system_prompt(), "prompt": seat.prompt()}
            data = GameData(name=f"{self.config.game}#{seed}", settings=settings, seed=seed, **prompts)
            yield GameTask(data, self.config.task)
            seed += 1


SETTINGS = tuple(name for name in GameTasksetConfig.__annotations__ if name != "first_seed")


@final
class GameEnv(vf.Env[GameEnvConfig]):
    """The game of a task, played by the player."""

    async def run(self, task: GameTask, agents: Any) -> None:
        """Play one episode."""
        seat = await asyncio.to_thread(make_seat, task.data.settings, task.data.seed)
        failures = dict.fromkeys((Kind.ILLEGAL, Kind.UNREADABLE), 0)
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                outcome = await asyncio.to_thread(seat.answer, segment.last_reply)  # the opponent may be slow
                if not outcome.played:
                    failures[outcome.reading.kind] += 1
                if seat.done:
                    break
                segment = await interaction.turn(outcome.message or seat.prompt())
        trace, table = interaction.trace, seat.table
        trace.record_reward("game_return", float(seat.reward), 1.0)
        metrics = {kind.value: count for kind, count in failures.items()} | {"plies": len(table.moves)}
        metrics["forfeited"] = any(forfeit.player == seat.seat for forfeit in table.forfeits)
        metrics["unfinished"] = not seat.done
        for name, value in metrics.items():
            trace.record_metric(name, float(value))
        trace.info.update(moves=list(table.moves), seat=seat.seat)


def make_seat(settings: dict[str, Any], seed: int) -> TextSeat:
    """Return a task's seat at its first turn; `settings` has all fields of GameTasksetConfig except `first_seed`."""
    rest = dict(settings)
    style = PromptStyle(**{field.name: rest.pop(field.name) for field in fields(PromptStyle)})
    disguise = seed if rest["disguise"] == -1 else rest["disguise"]
    game = make_game(rest.pop("game"), **rest.pop("options"))
    seat = TextSeat(game, style=style, **{**rest, "disguise": disguise})
    seat.reset(seed)
    return seat
