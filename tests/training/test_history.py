"""The last moves in the infos of many games: as they were played, and nothing that is hidden."""

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim, chameleon_v0, curio_v0, sample_actions, trinim_v0
from pbm_envs.envs.history import history_planes

CASES = [
    (chameleon_v0, {"size": 3}),
    (trinim_v0, {"num_players": 3, "size": 3, "allow_resign": True}),
    (curio_v0, {"base": 2, "rows": 4, "cols": 3, "no_capture_limit": 5}),
    (curio_v0, {"base": 3, "rows": 4, "cols": 4, "capture": "le_total"}),
]


@pytest.mark.parametrize(("module", "options"), CASES, ids=str)
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_each_row_has_the_history_of_its_own_game(module, options, mode):
    """Beside PettingZoo environments of the same seeds, into the next games; ended games show theirs at the end."""
    envs = module.vector_env(4, **options, history=3, autoreset_mode=mode)
    singles, rng = [module.raw_env(**options, history=3) for _ in range(4)], np.random.default_rng(1)
    _, info = envs.reset(seed=5)
    for row, single in enumerate(singles):
        single.reset(seed=5 + row)
    over = np.zeros(4, bool)
    for _ in range(50):
        for row, single in enumerate(singles):
            if not over[row]:
                shown = single.infos[single.agent_selection]
                assert {key: info[key][row].tolist() for key in shown} == {k: v.tolist() for k, v in shown.items()}
        actions = sample_actions(info["action_mask"], rng)
        waiting = over.copy() if mode == "NextStep" else np.zeros(4, bool)
        *_, terminated, truncated, info = envs.step(actions)
        over = terminated | truncated
        for row, single in enumerate(singles):
            if waiting[row]:
                single.reset()
                continue
            single.step(int(actions[row]))
            while single.agents and single.terminations[single.agent_selection] and not over[row]:
                single.step(None)  # who has resigned a game of three
            if over[row]:
                shown = single._history.info(np.array([info["final_info"]["to_move"][row]]))
                for key, values in shown.items():
                    assert (info["final_info"][key][row] == values[0]).all(), key
                if mode == "SameStep":
                    single.reset()


def test_opponents_are_in_the_history_too():
    def first(game, views, rng):
        return game.legal_action_mask(views).argmax(axis=1)

    envs = chameleon_v0.vector_env(6, size=4, opponent=first, seat=1, history=4, swap_rule=False)
    _, info = envs.reset(seed=1)
    assert info["history"].tolist() == [[0, -1, -1, -1]] * 6
    assert info["history_players"].tolist() == [[0, -1, -1, -1]] * 6
    *_, info = envs.step([9] * 6)
    assert info["history_players"].tolist() == [[0, 1, 0, -1]] * 6
    assert info["history"][:, 1:3].tolist() == [[9, 0]] * 6
    single = chameleon_v0.single_env(size=4, opponent=first, seat=1, history=2, swap_rule=False)
    _, info = single.reset(seed=1, options={"moves": ["b2x", "c3x"]})
    assert info["history"].tolist() == [0, single.game.string_to_action("c3x")]


def test_an_option_that_is_off_is_not_there():
    envs = curio_v0.vector_env(3)
    _, info = envs.reset(seed=1)
    assert not {"history", "history_players", "mask_history"} & set(info)
    assert envs._games.history is None
    for wrong in (-1, 0.5, True):
        with pytest.raises(ValueError, match=f"history is {wrong}"):
            curio_v0.vector_env(3, history=wrong)


@pytest.mark.parametrize("capture", ["le", "le_total"])
def test_exchanged_hidden_faces_show_the_same(capture):
    """Two boards that player_0 cannot tell apart, the same moves: the same observations, masks and histories."""
    options = {"base": 3, "rows": 4, "cols": 4, "capture": capture, "history": 4}
    rng, compared = np.random.default_rng(1), 0
    game = curio_v0.raw_env(**options).game
    for _ in range(30):
        view = game.view(game.init(1, rng), 0)
        worlds = [game.determinize(view, rng) for _ in range(2)]
        envs = curio_v0.vector_env(2, **options)
        boards = [game.board_to_string(world) for world in worlds]
        planes, info = envs.reset(options={"board": boards})
        same_masks = []
        for ply in range(8):
            if ply % 2 == 0:
                if capture == "le_total":  # legality itself may tell them apart from here on (C7)
                    same_masks.append((info["action_mask"][0] == info["action_mask"][1]).all())
                    if not all(same_masks):
                        break
                assert (planes[0] == planes[1]).all()
                for key in (
                    "action_mask",
                    "history",
                    "history_players",
                    *(["mask_history"] if len(same_masks) else []),
                ):
                    assert (info[key][0] == info[key][1]).all(), key
                compared += 1
            quiet = info["action_mask"].all(axis=0)
            for action in np.flatnonzero(quiet):  # moves to empty cells tell nothing
                cells = game.action_cells(int(action))
                if cells and envs.states["board"][0][cells[-1]] >= 0:
                    quiet[action] = False
            if not quiet.any():
                break
            planes, *_, info = envs.step(sample_actions(np.tile(quiet, (2, 1))[:1], rng).repeat(2))
    assert compared > 40


def test_planes_of_moves():
    game = Chameleon(size=3)
    a1o, b2x, swap = (game.string_to_action(text) for text in ("a1o", "b2x", "swap"))
    planes = history_planes(game, np.array([[swap, b2x], [a1o, -1]]), np.array([[1, 0], [0, -1]]), np.array([0, 0]))
    assert planes.shape == (2, 3, 3, 6)
    assert not planes[0, ..., :3].any(), "a swap names no cell, and the other has played it"
    assert np.argwhere(planes[0, ..., 3]).tolist() == np.argwhere(planes[0, ..., 4]).tolist() == [[1, 1]]
    assert planes[0, ..., 5].all()
    assert np.argwhere(planes[1, ..., 0]).tolist() == [[0, 0]]
    assert planes[1, ..., 2].all()
    assert not planes[1, ..., 3:].any()
    curio = Curio()
    move = curio.string_to_action("a1-a3")
    planes = history_planes(curio, np.array([[move]]), np.array([[0]]), np.array([1]))
    origin, target = curio.action_cells(move)
    assert np.argwhere(planes[0, ..., 0]).tolist() == [[curio.board.rows[origin], curio.board.cols[origin]]]
    assert np.argwhere(planes[0, ..., 1]).tolist() == [[curio.board.rows[target], curio.board.cols[target]]]
    assert not planes[..., 2].any()
    assert history_planes(Trinim(), np.zeros((0, 2), int), np.zeros((0, 2), int), np.zeros(0, int)).shape[0] == 0
