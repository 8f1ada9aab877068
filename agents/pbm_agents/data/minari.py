"""Minari: every seat of every game as an episode, as Gymnasium's single-seat environment would have shown it.

Observations are `{"observation": planes, "action_mask": mask}` of the seat's view when it is to move, and once more
after the game; rewards are 0 and, with the last move, the seat's return. Where the single-seat environment can be made
by Gymnasium, `dataset.recover_environment()` gives it. Extra `data` (minari, h5py).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from pbm_envs import Game
from pbm_envs.core.state import take_rows
from pbm_envs.records import PLY_LIMIT, UNFINISHED, GameRecord, replay

from .minari_file import EpisodeFile


def observation_space(game: Game) -> spaces.Dict:
    """Of the episodes."""
    return spaces.Dict(
        {
            "observation": spaces.Box(-128, 127, game.observation_shape, np.int8),
            "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
    )


def write_minari(
    records: Iterable[GameRecord], dataset_id: str, description: str = "", author: str = "pbm_envs"
) -> Any:
    """Make a Minari data set of records of one game; the data set.

    Args:
        records: Finished games of one game with the same options.
        dataset_id: As Minari wants it, such as `pbm/chameleon-5/expert-v0`.
        description: What its card says.
        author: Who made it.

    Raises:
        ValueError: There is such a data set already, or no record.
    """
    try:
        import minari
    except ImportError:
        raise ImportError("Minari is not installed: pip install 'pbm-envs[data]'") from None
    if dataset_id in minari.list_local_datasets():
        raise ValueError(f"Minari has a data set {dataset_id} already: expected another id")
    made: Any = None
    game: Game | None = None
    agents: set[str] = set()
    with ExitStack() as stack:
        file: EpisodeFile | None = None
        for record in records:
            if record.ending == UNFINISHED:
                raise ValueError(f"game {record.number} is unfinished: expected games with returns")
            rules = record.rules()
            if game is not None and rules != game:
                raise ValueError(f"records of {game!r} and of {rules!r}: expected one game with the same options")
            game = rules
            agents |= set(record.agents)
            episodes = _episodes(game, record)
            if made is None and episodes:
                made = _new_dataset(game, dataset_id, episodes.pop(0), description, author)
                file = stack.enter_context(EpisodeFile(made.storage.data_path, episodes=1))
            if file is not None:
                file.add(episodes)
    if made is None or file is None:
        raise ValueError("there are no games in which a player has chosen a move: expected some")
    storage = made.storage
    storage.update_metadata({"total_episodes": file.episodes, "total_steps": storage.total_steps + file.steps})
    storage.update_metadata({"dataset_size": storage.get_size(), "algorithm_name": ", ".join(sorted(agents))})
    return minari.load_dataset(dataset_id)


def _new_dataset(game: Game, dataset_id: str, episode: Mapping[str, Any], description: str, author: str) -> Any:
    """A data set of one episode."""
    import minari
    from minari.data_collector.episode_buffer import EpisodeBuffer

    spec = _env_spec(game)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on metadata that there need not be, such as e-mail addresses
        return minari.create_dataset_from_buffers(
            dataset_id,
            [EpisodeBuffer(**episode)],
            env=spec,
            eval_env=spec,
            observation_space=observation_space(game),
            action_space=spaces.Discrete(game.num_actions),
            author=author,
            description=description,
            requirements=["pbm-envs"],
            data_format="hdf5",
        )


def _episodes(game: Game, record: GameRecord) -> list[dict[str, Any]]:
    """One for each seat that has chosen a move; none for who has forfeited."""
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
                "infos": {"player": np.full(len(seen), seat, np.int8), "ply": np.array([*plies, len(record.moves)])},
            }
        )
    return found


def _env_spec(game: Game) -> Any:
    """Of the single-seat environment with the game's options; None for a game that Gymnasium does not know."""
    try:
        spec = deepcopy(gymnasium.spec(f"pbm/{type(game).__name__}-v0"))
    except gymnasium.error.Error:
        return None
    spec.kwargs = {**spec.kwargs, **game.options}
    return spec
