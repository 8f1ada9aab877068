"""Data sets: rows against the environments, all formats, the way back, graded sets, secrets."""

import json
from pathlib import Path

import numpy as np
import pytest
from pbm_agents.arena import Run, Tournament, play_tournament, tournament_records
from pbm_agents.cli.app import app
from pbm_agents.data import COLUMNS, GRADES, export_records, make_games, parquet_records, position_tables, records_from
from pbm_agents.data.rows import columns_of, shape_of
from typer.testing import CliRunner

from pbm_envs import Chameleon, Curio, Trinim
from pbm_envs.records import append_records, make_record
from tests.curio.test_secrets import moments

GAMES = {"chameleon": Chameleon(size=4), "curio": Curio(base=2, rows=4, cols=3), "trinim": Trinim(num_players=3)}


@pytest.fixture(scope="module", params=GAMES)
def played(request, tmp_path_factory):
    """A small tournament of each game, in its folder."""
    folder = tmp_path_factory.mktemp("played") / request.param
    agents = ("random", "mcts:simulations=8")
    return folder, play_tournament(Tournament((GAMES[request.param],), agents, openings=3, opening_moves=1), folder)


def joined(tables):
    """All rows in one."""
    tables = list(tables)
    return {
        name: None if values is None else np.concatenate([np.asarray(table.columns[name]) for table in tables])
        for name, values in tables[0].columns.items()
    }


def test_rows_are_what_the_environment_shows(played):
    """Every row against the AEC environment after the same moves."""
    _, records = played
    game = records[0].rules()
    rows, at = joined(position_tables(records, full_states=True)), 0
    for number, record in enumerate(records):
        state = game.init(1, np.random.default_rng(0), record.board)
        for ply, text in enumerate(record.moves):
            if ply >= record.opening:
                mover = int(state["to_move"][0])
                observation, mask = game.observe_with_mask(state, mover)
                assert (rows["observation"][at] == observation[0]).all()
                assert (rows["mask"][at] == mask[0]).all()
                assert rows["mask"][at][rows["action"][at]]
                assert game.action_to_string(int(rows["action"][at])) == rows["move"][at] == text
                assert (rows["game_id"][at], rows["ply"][at], rows["player"][at]) == (number, ply, mover)
                assert rows["agent"][at] == record.agents[mover]
                assert tuple(rows["returns"][at].tolist()) == pytest.approx(record.returns)
                assert rows["ending"][at] == record.ending
                assert rows["board"][at] == game.board_to_string(game.view(state, mover))
                assert rows["full_state"][at] == game.board_to_string(state)
                at += 1
            game.step(state, [game.string_to_action(text)])
    assert at == len(rows["action"])
    assert rows["policy"] is None


def test_parquet_holds_the_rows_and_gives_the_records_back(played, tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    folder, records = played
    game = records[0].rules()
    summary = export_records(folder, tmp_path / "out", "parquet", shard_rows=50)
    shards = sorted((tmp_path / "out").glob("positions-*.parquet"))
    read = pyarrow.read_table(shards)
    rows = joined(position_tables(records))
    assert [pyarrow.read_metadata(shard).num_rows for shard in shards] == summary.shards
    assert summary.shards[:-1] == [50] * (len(shards) - 1)
    assert read.column_names == [column.name for column in COLUMNS]
    for column in COLUMNS:
        values = read[column.name].to_pylist()
        if rows[column.name] is None:
            assert values == [None] * summary.rows
        else:
            assert np.array_equal(np.reshape(values, (-1, *shape_of(column, game))), rows[column.name]), column.name
        assert read.schema.field(column.name).metadata[b"meaning"].decode() == column.meaning
    assert list(parquet_records(tmp_path / "out")) == records == records_from(tmp_path / "out")
    schema = json.loads((tmp_path / "out" / "schema.json").read_text())
    assert [column["name"] for column in schema["columns"]] == read.column_names
    card = (tmp_path / "out" / "README.md").read_text()
    assert f"{summary.rows:,} positions in {len(shards)} file" in card
    assert all(f"| `{column.name}` |" in card for column in COLUMNS)
    assert ("## What is hidden" in card) == (game.name == "curio")


def test_parquet_holds_what_a_search_says_and_full_states(played, tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    folder, records = played
    export_records(folder, tmp_path / "out", label="mcts:simulations=6", full_states=True)
    read = pyarrow.read_table(tmp_path / "out" / "positions-00000.parquet")
    rows = joined(position_tables(records, full_states=True))
    assert read.column_names == [column.name for column in columns_of(full_states=True)]
    assert read["full_state"].to_pylist() == rows["full_state"].tolist()
    policy = np.array(read["policy"].to_pylist())
    assert policy.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert not policy[~rows["mask"]].any()
    assert (np.abs(read["value"].to_numpy()) <= 1).all()
    assert set(pyarrow.read_schema(tmp_path / "out" / "games.parquet").names) == {
        "game_id",
        "record" if records[0].game != "curio" else "full_state_record",
    }


@pytest.mark.filterwarnings("ignore")  # Minari's own
def test_minari_loads_the_episodes_and_they_fit_their_spaces(played, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    folder, records = played
    game = records[0].rules()
    export_records(folder, f"pbm/{game.name}/tests-v0", "minari")
    dataset = minari.load_dataset(f"pbm/{game.name}/tests-v0")
    assert dataset.total_episodes == len(records) * game.num_players
    episodes = list(dataset.iterate_episodes())
    assert sum(len(episode) for episode in episodes) == dataset.total_steps
    assert dataset.total_steps == sum(len(record.moves) - record.opening for record in records)
    for number, episode in enumerate(episodes):
        record, seat = records[number // game.num_players], number % game.num_players
        assert len(episode.observations["observation"]) == len(episode) + 1
        for step in range(len(episode)):
            seen = {name: values[step] for name, values in episode.observations.items()}
            assert dataset.observation_space.contains(seen)
            assert dataset.action_space.contains(episode.actions[step])
            assert seen["action_mask"][episode.actions[step]]
        assert not episode.observations["action_mask"][-1].any()
        assert episode.rewards.sum() == episode.rewards[-1] == pytest.approx(record.returns[seat])
        ended = episode.terminations | episode.truncations
        assert ended[-1]
        assert not ended[:-1].any()
        moves = [game.action_to_string(int(action)) for action in episode.actions]
        assert moves == [record.moves[ply] for ply in episode.infos["ply"][:-1]]
        assert (episode.infos["player"] == seat).all()
    sampled = dataset.sample_episodes(3)
    assert len(sampled) == 3
    environment = dataset.recover_environment().unwrapped
    assert environment.game == game
    with pytest.raises(ValueError, match="Minari has a data set"):
        export_records(folder, f"pbm/{game.name}/tests-v0", "minari")


MALFORMED = ("pbm/cham/v0", "foo", "x-v", "x-v0.5", "has space-v0", "../esc-v0", "a/../esc-v0", "{}/x-v0", "ab//x-v0",
             "ab//cd/x-v0", "a/x-v0", "data/x-v0", "ab/data/x-v0", "x-v0/", "x-v0\n", "")  # fmt: skip


@pytest.fixture
def games_and_minari(tmp_path, monkeypatch):
    """A file of games, and Minari with an empty folder."""
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    records = make_games(Chameleon(size=3), tmp_path / "games", ("random",), 4)
    append_records(tmp_path / "games.jsonl", records)
    return tmp_path / "games.jsonl", minari


@pytest.mark.parametrize("wrong", MALFORMED)
def test_a_malformed_id_of_minari_is_refused_before_anything_is_written(games_and_minari, tmp_path, wrong):
    source, minari = games_and_minari
    wrong = wrong.format(tmp_path)
    before = set(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"id of the data set is .*: expected NAMESPACE/NAME-vNUMBER"):
        export_records(source, wrong, "minari")
    words = ["dataset", "trinim", "-a", "random", "--out", str(tmp_path / "out"), "--to", "minari", "--minari-id"]
    assert CliRunner().invoke(app, [*words, wrong]).exit_code == 2
    assert set(tmp_path.rglob("*")) == before
    export_records(source, "ab-c_d/éa/x-v01", "minari")
    assert list(minari.list_local_datasets()) == ["ab-c_d/éa/x-v01"]


@pytest.mark.parametrize("dataset_id", ["pbm/x-v0", "x-v0"])
def test_minari_lists_a_data_set_only_when_it_is_complete(games_and_minari, monkeypatch, dataset_id):
    source, minari = games_and_minari
    listed = []

    def interrupted(records, progress):
        yield from records[:3]
        listed.append(minari.list_local_datasets())  # as another process would see it, or this one if it were killed
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pbm_agents.data.export._with_progress", interrupted)
        with pytest.raises(KeyboardInterrupt):
            export_records(source, dataset_id, "minari")
    assert listed == [{}]
    assert not list((source.parent / "minari").iterdir())
    export_records(source, dataset_id, "minari")
    assert minari.load_dataset(dataset_id).total_episodes == 8


def seen_by(records, player, game):
    """Everything but the outcome that rows and episodes hold for a player."""
    from pbm_agents.data.minari import _episodes
    from pbm_agents.players.names import make_agent

    rows = joined(position_tables(records, label=make_agent("mcts:simulations=6")))
    mine = rows["player"] == player
    shown = [np.asarray(rows[column.name])[mine].tobytes() for column in COLUMNS if column.name != "game_id"]
    episodes = [episode for episode in _episodes(game, records[0]) if episode["infos"]["player"][0] == player]
    for episode in episodes:
        shown += [values.tobytes() for values in episode["observations"].values()]
        shown += [episode["actions"].tobytes(), episode["infos"]["ply"]]
    return repr(shown)


@pytest.mark.parametrize("face", ["large", "random"])
def test_rows_hold_nothing_that_their_player_did_not_know(face):
    """Games that looked the same to a player until the end make the same rows, whatever was hidden (C15)."""
    compared = 0
    for moment in moments(face, "le", "one set", 40):
        worlds = moment.worlds[:8]
        if len(worlds) < 2 or not worlds[0].done:
            continue
        shown, full = set(), set()
        for world, end in zip(worlds, moment.states, strict=False):
            start = moment.game.init(1, np.random.default_rng(0), world.start)
            record = make_record(moment.game, start, world.moves, np.array([end]), agents=("a", "b"), seed=1)
            shown.add(seen_by([record], moment.player, moment.game))
            full.add(joined(position_tables([record], full_states=True))["full_state"][0])
        assert len(shown) == 1, str(moment)
        assert len(full) == len(worlds)
        compared += 1
    assert compared >= 3


def test_a_graded_set_is_the_same_whoever_makes_it_and_however_often_it_was_stopped(tmp_path):
    game, agents = Chameleon(size=4), GRADES["random"] + ("mcts:simulations=8",)
    settings = {"games": 25, "seed": 5, "opening_moves": 1, "batch": 4}
    once = make_games(game, tmp_path / "once", agents, **settings)
    assert [record.number for record in once] == list(range(25))
    assert [record.agents[0] for record in once] == ["random"] * 12 + ["mcts:simulations=8"] * 13
    assert all(len(set(record.agents)) == 1 for record in once)
    (tmp_path / "twice").mkdir()
    whole = (tmp_path / "once" / "games.jsonl").read_bytes()
    (tmp_path / "twice" / "tournament.json").write_bytes((tmp_path / "once" / "tournament.json").read_bytes())
    (tmp_path / "twice" / "games.jsonl").write_bytes(whole[: len(whole) // 2])
    twice = make_games(game, tmp_path / "twice", agents, run=Run(workers=2), **settings)
    assert [record.moves for record in twice] == [record.moves for record in once]
    with pytest.raises(ValueError, match="holds another tournament: seed 5 there and 6 here"):
        make_games(game, tmp_path / "once", agents, **settings | {"seed": 6})


def test_commands(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)

    def pbm(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        return result

    words = ("dataset", "chameleon:size=3", "-a", "random", "--games", 20, "--label", "mcts:simulations=8")
    first = pbm(*words, "--out", "one")
    assert "20/20" in first.stderr
    assert "positions of 20 games to one/parquet" in first.stdout
    assert "is complete" in pbm(*words, "--out", "one").stdout
    left = Path("two/.parquet.0123456789abcdef.part")  # as by a process that was killed
    left.mkdir(parents=True)
    pbm(*words, "--out", "two", "--workers", 2)
    assert not left.exists()
    one, two = (pyarrow.read_table(f"{name}/parquet/positions-00000.parquet") for name in ("one", "two"))
    assert one.equals(two)
    assert one["policy"].null_count == 0
    pbm("export", "one/parquet", "--out", "three", "--no-games")
    assert {path.name for path in Path("three").iterdir()} == {"README.md", "schema.json", "positions-00000.parquet"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"to": "csv"}, "to is 'csv': expected one of parquet, minari"),
        ({"shard_rows": 0}, "shard_rows is 0: expected an integer from 1 up"),
        ({"label": "random"}, "label is 'random': expected an agent that searches, such as mcts"),
        ({"to": "minari", "full_states": True}, "Minari's episodes have no policies and no full states"),
        ({"out": "."}, "exists already: expected a new folder"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_nothing_is_left(played, tmp_path, monkeypatch, change, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        export_records(**{"source": played[0], "out": "out", **change})
    assert not (tmp_path / "out").exists()


def test_records_of_several_games_and_unfinished_ones_are_refused(tmp_path):
    game = Chameleon(size=3)
    start = game.init(1, np.random.default_rng(0))
    unfinished = make_record(game, start, (), start, agents=("a", "b"))
    append_records(tmp_path / "unfinished.jsonl", [unfinished])
    with pytest.raises(ValueError, match="game 0 is unfinished: expected games with returns"):
        export_records(tmp_path / "unfinished.jsonl", tmp_path / "out")
    mixed = [
        *make_games(Chameleon(size=3), tmp_path / "a", ("random",), 1),
        *make_games(Chameleon(size=4), tmp_path / "b", ("random",), 1),
    ]
    append_records(tmp_path / "mixed.jsonl", mixed)
    with pytest.raises(ValueError, match="expected one game with the same options"):
        export_records(tmp_path / "mixed.jsonl", tmp_path / "out")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(ValueError, match="holds no games: expected some"):
        export_records(tmp_path / "empty.jsonl", tmp_path / "out")
    assert tournament_records(tmp_path / "a") == mixed[:1]


def test_forfeits_and_openings_make_no_rows(tmp_path):
    agents = ("random", "tests.arena.agents:Crashing")
    records = play_tournament(Tournament((Chameleon(size=4),), agents, openings=2, opening_moves=2), tmp_path)
    assert any(record.forfeits for record in records)
    rows = joined(position_tables(records))
    expected = sum(len(record.moves) - record.opening - len(record.forfeits) for record in records)
    assert len(rows["action"]) == expected
    assert (rows["ply"] >= 2).all()
