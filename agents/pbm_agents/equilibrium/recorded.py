"""An agent whose actions are kept in a file, so that measuring a slow agent can be resumed."""

from __future__ import annotations

import json
from collections import defaultdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, final

import numpy as np

from pbm_envs import Game, sample_actions
from pbm_envs.foreign import check_fields, parse_object

from ..common.faults import BudgetSpentError, InfrastructureError
from ..players.agent import Actions, Views
from .evaluation import without_gaps

FIELDS = {"agent": str, "game": str, "view": str, "action": int, "legal": bool}
"""Fields of a line: `view` is a hash, and `legal` is true if the agent's own answer was a legal action."""


@final
class RecordedAgent:
    """A wrapper that asks an agent, such as a language model, about single views and saves each answer at once.

    Answers in the file are used first, in order for each view. If the agent finds no legal action, a random one is
    recorded and marked as such.
    """

    def __init__(self, agent: Any, name: str, path: str | Path, requests: int | None = None) -> None:
        """Open the file of JSON lines at `path`, or create it when an answer comes.

        Answers of agents with another name are ignored and kept. The agent is asked about at most `requests` views.
        """
        self.agent, self.name, self.path, self.left = agent, name, Path(path), requests
        self._known: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._used: dict[tuple[str, str], int] = defaultdict(int)
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        for line in lines:
            given = parse_object(line, "an answer")
            check_fields(given, FIELDS, "an answer")
            if given["agent"] == name:
                self._known[given["game"], given["view"]].append(given["action"])

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Return actions, as `Agent.act`; BudgetSpentError if the requests are used up, where the next run resumes."""
        masks, actions = game.legal_action_mask(views), np.empty(len(views), np.int64)
        for row, view in enumerate(without_gaps(views)):
            key = repr(game), blake2b(view.tobytes(), digest_size=12).hexdigest()
            if self._used[key] == len(self._known[key]):
                self._ask(game, views[row : row + 1], key, rng)
            action = self._known[key][self._used[key]]
            if not (0 <= action < game.num_actions and masks[row, action]):
                raise ValueError(f"{str(self.path)!r} has action {action} for view {key[1]}: expected a legal one")
            self._used[key] += 1
            actions[row] = action
        return actions

    def _ask(self, game: Game, view: Views, key: tuple[str, str], rng: np.random.Generator) -> None:
        if self.left == 0:
            raise BudgetSpentError(f"the requests are used up; the answers are in {str(self.path)!r}: run again")
        self.left = None if self.left is None else self.left - 1
        legal = True
        try:
            action = int(self.agent.act(game, view, rng)[0])
        except InfrastructureError:
            raise
        except RuntimeError:  # no legal move after all attempts
            action, legal = int(sample_actions(game.legal_action_mask(view), rng)[0]), False
        line = {"agent": self.name, "game": key[0], "view": key[1], "action": action, "legal": legal}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._known[key].append(action)
