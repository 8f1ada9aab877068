"""Minari: every seat of every game as an episode, as in Gymnasium's single-seat environment.

Observations are `{"observation": planes, "action_mask": mask}` of the seat's view when it is to move, and once more
after the game. The reward is the seat's return with its last move, and 0 before. If Gymnasium can make the single-seat
environment, `dataset.recover_environment()` returns it. Needs the extra `data` (minari).
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
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


def new_minari_path(dataset_id: str) -> Path:
    """Return Minari's folder for a new data set.

    Raises:
        ValueError: The id is not valid, or the data set exists.
    """
    from minari.dataset.minari_dataset import DATASET_ID_RE
    from minari.storage import get_dataset_path

    found = DATASET_ID_RE.fullmatch(dataset_id)
    # Minari also matches ids that its list of data sets cannot read: those without a version, or with these parts
    if not found or not found["version"] or {"", "data"} & set(dataset_id.split("/")):
        raise ValueError(
            f"the id of the data set is {quoted(dataset_id)}: expected NAMESPACE/NAME-vNUMBER or NAME-vNUMBER of "
            "letters, digits, - and _, such as pbm/chameleon-5/expert-v0. NAMESPACE has at least two characters and no "
            "part 'data'"
        )
    path: Path = get_dataset_path(dataset_id)
    if path.exists():
        raise ValueError(f"Minari has a data set {dataset_id} already: expected another id")
    return path


def write_minari(summary: Summary, records: Iterable[GameRecord], dataset_id: str) -> None:
    """Make a Minari data set of finished games, which appears when it is complete.

    Args:
        summary: The description of the games for the card.
        records: The games.
        dataset_id: An id for Minari, such as `pbm/chameleon-5/expert-v0`.

    Raises:
        ValueError: The id is not valid, the data set exists, or no player has chosen a move.
    """
    import minari
    from minari.data_collector.episode_buffer import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage
    from minari.namespace import create_namespace, list_local_namespaces
    from minari.storage import get_dataset_path

    path = new_minari_path(dataset_id)
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
    metadata = {
        "dataset_id": dataset_id,
        "minari_version": minari.__version__,
        "author": {"pbm_envs"},
        "description": card_text(summary),
        "requirements": ["pbm-envs"],
        "algorithm_name": ", ".join(sorted(summary.agents)),
        **({"eval_env_spec": spec.to_json()} if spec else {}),
    }
    # `minari.create_dataset_from_buffers` would list the data set from the start; no list has folders with a dot
    with TemporaryDirectory(prefix=".", dir=get_dataset_path("")) as part:
        folder = Path(part, path.name)
        folder.mkdir()
        observed, chosen = spaces.Dict(observations), spaces.Discrete(game.num_actions)
        storage = MinariStorage.new(folder / "data", observed, chosen, spec, "arrow")
        storage.update_metadata(metadata)
        storage.update_episodes(chain([first], episodes))  # one at a time: all of them may not fit into memory
        namespace = dataset_id.rpartition("/")[0]
        if namespace and namespace not in list_local_namespaces():
            create_namespace(namespace)
        folder.rename(path)


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
