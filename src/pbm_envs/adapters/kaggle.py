"""The games in Kaggle's game arena (`kaggle_environments` 1.33 and later; extra `kaggle`).

    from kaggle_environments import make
    from pbm_envs.adapters.kaggle import create_llm_agent, register
    register()                                        # open_spiel_pbm_curio, open_spiel_pbm_trinim, ...
    env = make("open_spiel_pbm_curio", configuration={"seed": 7, "openSpielGameParameters": {"base": 3}})
    env.run([create_llm_agent(), "random"])

The arena plays games of OpenSpiel; these are ours (`pbm_envs.adapters.openspiel`) with observations for language
models: JSON with everything that a harness needs and the player may know, the texts of `pbm_envs.text` among it. The
harness is `get_legal_moves`, `generate_prompt` and `parse_response` of this module, by the arena's conventions: no
legal moves in the prompt, the last JSON `{"move": ...}` counts, different messages for an illegal and an unreadable
answer, then a forfeit. Games of hidden information withhold `serializedGameAndState`, which would give the hidden sides
away.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, final

import numpy as np

from ..registry import games, make_game
from ..text import (
    COMPACT,
    FULL,
    History,
    Kind,
    PromptStyle,
    Reading,
    Vocabulary,
    correction,
    system_prompt,
    turn_prompt,
)
from .openspiel import Observer, SpielGame, SpielState, game_type

try:
    import pyspiel
    from kaggle_environments import core_harness
    from kaggle_environments import register as register_environment
    from kaggle_environments.envs.open_spiel_env import open_spiel_env
except ImportError:
    raise ImportError("kaggle_environments is not installed: pip install 'pbm-envs[kaggle]'") from None

PREFIX = "pbm_"
ATTEMPTS = 3
"""One, and two more for what is illegal or cannot be read."""


class ArenaState(SpielState):
    """A state whose observations are JSON."""

    def hides_state_from_agents(self) -> bool:
        """The arena's question whether agents must not get the whole state."""
        return not self.get_game().rules.perfect_information


class ArenaGame(SpielGame):
    """One of our games for the arena. `register` makes a class of each game, which adds `name`."""

    state_class = ArenaState
    prefix = PREFIX

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Observer:
        """Observations are JSON, information states OpenSpiel's usual ones."""
        usual = super().make_py_observer(iig_obs_type, params)
        return usual if iig_obs_type is not None and iig_obs_type.perfect_recall else TextObserver(self.rules, False)


@final
class TextObserver(Observer):
    """What a player is told, as JSON."""

    def string_from(self, state: SpielState, player: int) -> str:
        """What a player is told, as a JSON object.

        It has `game`, `options`, `system_prompt`, `prompts` by style, `legal_moves` by action, and `is_terminal`.
        """
        moment, rules = state.moment, self._rules
        if moment.now is None or moment.start is None:
            return json.dumps({"game": rules.name, "being_set_up": True})
        words, now = Vocabulary(rules), moment.now
        view = rules.view(now, int(player))
        history = History.of_game(rules, moment.start, state.moves(), int(player))
        legal = np.flatnonzero(rules.legal_action_mask(view)[0]).tolist()
        return json.dumps(
            {
                "game": rules.name,
                "options": dict(rules.options),
                "system_prompt": system_prompt(words, FULL, ATTEMPTS),
                "prompts": {name: turn_prompt(words, view, history, style) for name, style in STYLES.items()},
                "legal_moves": {str(action): rules.action_to_string(action) for action in legal},
                "is_terminal": bool(now["done"][0]),
            }
        )


STYLES: dict[str, PromptStyle] = {"full": FULL, "compact": COMPACT}


def get_legal_moves(observation: Mapping[str, Any]) -> dict[int, str]:
    """The legal actions and their texts."""
    return {int(action): text for action, text in _told(observation).get("legal_moves", {}).items()}


def generate_prompt(
    observation: Mapping[str, Any],
    move_history: Sequence[str],
    previous_response: str | None = None,
    previous_action: str | None = None,
    *,
    style: str = "full",
) -> str:
    """The rules, the position, and what was wrong with the last answer.

    Args:
        observation: the arena's.
        move_history: the player's own moves; not used, since the observation holds the moves of all.
        previous_response: the last answer in this turn, if there was one.
        previous_action: the move that was read in it, if there was one.
        style: "full" or "compact".
    """
    told = _told(observation)
    words = _vocabulary(told["game"], json.dumps(told["options"], sort_keys=True))
    prompt = f"{told['system_prompt']}\n\n{told['prompts'][style]}"
    if previous_response is None:
        return prompt
    if previous_action:
        reading = Reading(Kind.ILLEGAL, previous_action)
    else:
        reading = Reading(Kind.UNREADABLE, "", reason=f"it ended with {previous_response[-200:]!r}")
    return f"{prompt}\n\n{correction(words, reading)}"


def parse_response(
    response: str, legal_action_strings: Sequence[str] | None, *, observation: Mapping[str, Any]
) -> core_harness.ParseResult:
    """The move in an answer (`pbm_envs.text.reading`), as the arena wants it.

    Args:
        response: what the model has said.
        legal_action_strings: what it may play.
        observation: the arena's.
    """
    told = _told(observation)
    words = _vocabulary(told["game"], json.dumps(told["options"], sort_keys=True))
    legal = np.zeros(words.game.num_actions, np.bool_)
    legal[[words.game.string_to_action(text) for text in legal_action_strings or ()]] = True
    reading = words.reader.answer(response, legal)
    if reading.kind is Kind.MOVE:
        return core_harness.ParseResult(words.game.action_to_string(reading.action), reading.text)
    return core_harness.ParseResult(raw_action=reading.text if reading.kind is Kind.ILLEGAL else None)


@final
class Harness:
    """The three functions as the arena's GameHarness."""

    def __init__(self, style: str = "full") -> None:
        """`style` as in `generate_prompt`."""
        if style not in STYLES:
            raise ValueError(f"style is {style!r}: expected one of {', '.join(STYLES)}")
        self.style = style

    def get_legal_moves(self, observation: Mapping[str, Any]) -> dict[int, str]:
        """As the function."""
        return get_legal_moves(observation)

    def make_prompt(
        self,
        observation: Mapping[str, Any],
        move_history: Sequence[str],
        previous_response: str | None = None,
        previous_action: str | None = None,
    ) -> str:
        """As `generate_prompt`."""
        return generate_prompt(observation, move_history, previous_response, previous_action, style=self.style)

    def parse_response(
        self, response: str, legal_action_strings: Sequence[str] | None, *, observation: Mapping[str, Any]
    ) -> core_harness.ParseResult:
        """As the function."""
        return parse_response(response, legal_action_strings, observation=observation)


def create_llm_agent(style: str = "full", **settings: Any) -> Callable[[Any, Any], Any]:
    """A language model by the arena's own harness, which reads MODEL_NAME, MODEL_PROXY_URL and MODEL_PROXY_KEY.

    Args:
        style: as in `generate_prompt`.
        settings: of `kaggle_environments.core_harness.create_agent_fn`, such as `model_override`.
    """
    agent: Callable[[Any, Any], Any] = core_harness.create_agent_fn(
        Harness(style), **{"max_retries": ATTEMPTS} | settings
    )
    return agent


def register() -> None:
    """Tell OpenSpiel and the arena every registered game; again does no harm."""
    known = pyspiel.registered_names()
    for name in games():
        if PREFIX + name not in known:
            rules = make_game(name)
            creator = type(f"{type(rules).__name__}ArenaGame", (ArenaGame,), {"name": name})
            pyspiel.register_game(game_type(name, rules, rules.deal, PREFIX), creator)
            environment = open_spiel_env._build_env(PREFIX + name)
            register_environment(environment["specification"]["name"], environment)


def _told(observation: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(observation.get("observationString") or "{}")
    return told


@lru_cache(maxsize=64)
def _vocabulary(name: str, options: str) -> Vocabulary:
    return Vocabulary(make_game(name, **json.loads(options)))
