"""Minari: every seat of every game as an episode, as in Gymnasium's single-seat environment.

Observations are `{"observation": planes, "action_mask": mask}` of the seat's view when it is to move, and once more
after the game. The reward is the seat's return with its last move, and 0 before. If Gymnasium can make the single-seat
environment, `dataset.recover_environment()` returns it. Needs the extra `data` (minari).
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from pbm_envs import Game
from pbm_envs.authoring import take_rows
from pbm_envs.records import PLY_LIMIT, GameRecord, replay
from pbm_envs.toolbox import quoted

from .card import Summary, card_text

FOLDER = "MINARI_DATASETS_PATH"
"""The variable that names Minari's folder."""


def check_dataset_id(dataset_id: str) -> None:
    """Raise ValueError unless this is an id for Minari, whose list of data sets any other folder would break."""
    if not re.fullmatch(r"([-\w]+/)*[-\w]+-v\d+", dataset_id, re.ASCII):
        raise ValueError(
            f"{quoted(dataset_id)} is not an id for Minari: expected one such as pbm/chameleon-5/expert-v0"
        )


def write_minari(summary: Summary, records: Iterable[GameRecord], dataset_id: str) -> None:
    """Make a Minari data set of finished games.

    Args:
        summary: The description of the games for the card.
        records: The games.
        dataset_id: An id for Minari, such as `pbm/chameleon-5/expert-v0`.

    Raises:
        ValueError: The id is none, the data set exists, or no player has chosen a move.
    """
    import minari
    from minari.data_collector.episode_buffer import EpisodeBuffer
    from minari.namespace import create_namespace, list_local_namespaces
    from minari.storage import get_dataset_path

    check_dataset_id(dataset_id)
    place, namespace = get_dataset_path(dataset_id), dataset_id.rpartition("/")[0]
    if place.exists():
        raise ValueError(f"Minari has a data set {dataset_id} already: expected another id")
    game = summary.game
    episodes = (EpisodeBuffer(**episode) for record in records for episode in _episodes(game, record))
    first = next(episodes, None)
    if first is None:
        raise ValueError("there are no games in which a player has chosen a move: expected some")
    observations: dict[str, spaces.Space[Any]] = {
        "observation": spaces.Box(-128, 127, game.observation_shape, np.int8),
        "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
    }
    spec = _env_spec(game)
    with TemporaryDirectory(prefix=".", dir=get_dataset_path()) as part:  # Minari lists no folders with a dot
        with warnings.catch_warnings(), _folder_of_minari(part):
            warnings.simplefilter("ignore")  # Minari warns of missing metadata that is optional, such as addresses
            dataset = minari.create_dataset_from_buffers(
                dataset_id,
                [first],
                env=spec,
                eval_env=spec,
                observation_space=spaces.Dict(observations),
                action_space=spaces.Discrete(game.num_actions),
                author="pbm_envs",
                description=card_text(summary),
                requirements=["pbm-envs"],
                data_format="arrow",
            )
            dataset.storage.update_episodes(episodes)  # one at a time: all of them may not fit into memory
            dataset.storage.update_metadata({"algorithm_name": ", ".join(sorted(summary.agents))})
        if namespace and namespace not in list_local_namespaces():
            create_namespace(namespace)
        place.parent.mkdir(parents=True, exist_ok=True)
        Path(part, dataset_id).rename(place)


@contextmanager
def _folder_of_minari(folder: str) -> Iterator[None]:
    """Let Minari use this folder, and then its own again."""
    own = os.environ.get(FOLDER)
    os.environ[FOLDER] = folder
    try:
        yield
    finally:
        if own is None:
            del os.environ[FOLDER]
        else:
            os.environ[FOLDER] = own


def _episodes(game: Game, record: GameRecord) -> list[dict[str, Any]]:
    """Return an episode for each seat that has chosen a move and has not forfeited."""
    positions = list(replay(record))
    states = np.concatenate(positions)
    forfeiters = {forfeit.player for forfeit in record.forfeits}
    movers, found = states["to_move"][:-1], []
    for seat in range(game.num_players):
        plies = [ply for ply in range(record.opening, len(record.moves)) if movers[ply] == seat]
        if not plies or seat in forfeiters:
            continue
        seen = take_rows(states, np.array([*plies, len(record.moves)]))
        observations, masks = game.observe_with_mask(seen, seat)
        last = np.arange(len(plies)) == len(plies) - 1
        cut_off = record.ending == PLY_LIMIT
        found.append(
            {
                "observations": {"observation": observations, "action_mask": masks.astype(np.int8)},
                "actions": np.array([game.string_to_action(record.moves[ply]) for ply in plies], np.int64),
                "rewards": np.where(last, record.returns[seat], 0.0).astype(np.float32),
                "terminations": last & (not cut_off),
                "truncations": last & cut_off,
                # lists, since Minari's Arrow storage cannot read arrays with one number per step
                "infos": {"player": [seat] * len(seen), "ply": [*plies, len(record.moves)]},
            }
        )
    return found


def _env_spec(game: Game) -> Any:
    """Return the spec of the single-seat environment with the game's options; None if Gymnasium has none."""
    try:
        spec = deepcopy(gymnasium.spec(f"pbm/{type(game).__name__}-v0"))
    except gymnasium.error.Error:
        return None
    spec.kwargs = {**spec.kwargs, **game.options}
    return spec
