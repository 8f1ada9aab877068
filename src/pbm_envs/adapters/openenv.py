"""The games as environments of OpenEnv: a server of games in words, and its client (extra `openenv`).

    PBM_OPENENV='{"game": "unlur"}' uvicorn --factory pbm_envs.adapters.openenv:app

    with GameClient(base_url="http://localhost:8000").sync() as env:
        result = env.reset(seed=7)
        while not result.done:
            result = env.step(Answer(text=model(result.observation.system_prompt, result.observation.prompt)))
        result.reward

One session plays one seat against an agent (`pbm_envs.text.TextSeat`); the reward is the seat's return at the end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, final
from uuid import uuid4

from ..core.game import Game
from ..registry import make_game
from ..text import PromptStyle, TextSeat

try:
    from openenv.core import EnvClient
    from openenv.core.client_types import StepResult
    from openenv.core.env_server.http_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
except ImportError:
    raise ImportError("OpenEnv is not installed: pip install 'pbm-envs[openenv]'") from None

SETTINGS = "PBM_OPENENV"
"""The environment variable that `app` reads: the arguments of `make_openenv` as a JSON object."""


class Answer(Action):
    """What a player has written."""

    text: str


class Question(Observation):
    """What a player is asked."""

    system_prompt: str
    """The rules and the form of an answer."""
    prompt: str
    """The position as the seat sees it, and what was wrong with the last answer."""
    seat: int
    kind: str = ""
    """What the last answer was: "move", "illegal" or "unreadable"."""
    attempts_left: int
    legal_moves: list[str] | None = None
    """Only if asked for."""


class TableState(State):
    """What can be asked about a session at any time: nothing that its player does not know."""

    game: str = ""
    options: dict[str, Any] = {}
    moves: list[str] = []


@final
class GameEnvironment(Environment):
    """One seat of a game."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        game: Game,
        opponent: Any = "random",
        seat: int | str = "random",
        *,
        style: PromptStyle | None = None,
        attempts: int = 3,
        disguise: int | None = None,
    ) -> None:
        """Arguments as in TextSeat."""
        super().__init__()
        self._style = style or PromptStyle()
        self._seat = TextSeat(game, opponent, seat, style=self._style, attempts=attempts, disguise=disguise)
        self._state = TableState(episode_id=None, step_count=0)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        board: str | None = None,
        moves: list[str] | tuple[str, ...] = (),
        **kwargs: Any,
    ) -> Question:
        """Start a game.

        Args:
            seed: of the set-up, the seat and the opponent.
            episode_id: a name of the episode; made up if missing.
            board: a board text to start from.
            moves: move texts that are played from there.
            kwargs: expected to be empty.
        """
        if kwargs:
            raise ValueError(f"reset was given {sorted(kwargs)}: expected seed, episode_id, board and moves")
        self._seat.reset(seed, {"board": board, "moves": tuple(moves)})
        game = self._seat.table.game
        self._state = TableState(
            episode_id=episode_id or str(uuid4()), step_count=0, game=game.name, options=dict(game.options)
        )
        return self._question("")

    def step(self, action: Answer, timeout_s: float | None = None, **kwargs: Any) -> Question:
        """Read an answer, play it, and play on to the seat's next turn."""
        outcome = self._seat.answer(action.text)
        self._state.step_count += 1
        return self._question(outcome.reading.kind.value)

    @property
    def state(self) -> TableState:
        """The moves so far, as the seat has seen them."""
        table = self._seat.table
        self._state.moves = [
            table.words.moves[table.words.displayed_action(seen.action)] if seen.action >= 0 else seen.note
            for seen in table.histories[self._seat.seat].plies
        ]
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """What the server says about itself."""
        game = self._seat.table.game
        return EnvironmentMetadata(name=f"pbm_{game.name}", description=f"{game!r} in words", version="0")

    def _question(self, kind: str) -> Question:
        seat, table = self._seat, self._seat.table
        return Question(
            done=seat.done,
            reward=seat.reward,
            system_prompt=seat.system_prompt(),
            prompt=seat.prompt(),
            seat=seat.seat,
            kind=kind,
            attempts_left=table.attempts - table.failed,
            legal_moves=seat.legal_moves() if self._style.legal_moves else None,
        )


@final
class GameClient(EnvClient):
    """Plays on a server of `app`."""

    def _step_payload(self, action: Answer) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        done, reward = payload.get("done", False), payload.get("reward")
        question = Question(**(payload["observation"] | {"done": done, "reward": reward}))
        return StepResult(observation=question, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> TableState:
        return TableState(**payload)


def make_openenv(
    game: str = "curio",
    *,
    opponent: str = "random",
    seat: int | str = "random",
    attempts: int = 3,
    disguise: int | None = None,
    style: dict[str, Any] | None = None,
    **options: Any,
) -> Callable[[], GameEnvironment]:
    """What makes the environment of each session.

    Args:
        game: a registered name.
        opponent: as in TextSeat.
        seat: as in TextSeat.
        attempts: as in TextGame.
        disguise: as in TextGame.
        style: fields of PromptStyle.
        options: of the game.
    """
    rules, told = make_game(game, **options), PromptStyle(**(style or {}))

    def make() -> GameEnvironment:
        return GameEnvironment(rules, opponent, seat, style=told, attempts=attempts, disguise=disguise)

    make()  # so that wrong settings are refused when the server starts
    return make


def app(settings: dict[str, Any] | None = None, max_concurrent_envs: int = 64) -> Any:
    """The FastAPI application of a server.

    Args:
        settings: arguments of `make_openenv`; by default what the environment variable PBM_OPENENV holds.
        max_concurrent_envs: sessions at the same time.
    """
    given = json.loads(os.environ.get(SETTINGS, "{}")) if settings is None else settings
    factory = make_openenv(**given)
    return create_app(
        factory, Answer, Question, env_name=f"pbm_{given.get('game', 'curio')}", max_concurrent_envs=max_concurrent_envs
    )
