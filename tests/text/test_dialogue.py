"""Whole games in words: prompts, retries, forfeits, disguises."""

import json
import re

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur, registered_games, sample_actions
from pbm_envs.records import FORFEITED, RESIGN, verify
from pbm_envs.testing import positions
from pbm_envs.text import COMPACT, Disguise, Kind, PromptStyle, TextGame, position, turn_prompt
from pbm_envs.text.prompts import POSITIONS, RULES

ALL = [kind(**options) for kind in registered_games().values() for options in kind.configurations]
SMALL = [Chameleon(size=3), Curio(base=2, rows=4, cols=3), Trinim(size=3, num_players=3), Unlur(radius=3)]
every_game = pytest.mark.parametrize("game", ALL, ids=str)
small = pytest.mark.parametrize("game", SMALL, ids=str)


def drawn(table, rng):
    legal = table.game.legal_action_mask(table.states)
    if table.game.resign_action >= 0:
        legal[:, table.game.resign_action] = False
    return int(sample_actions(legal, rng)[0])


def said(table, action):
    """An answer that means this action, as the players of this table call it."""
    return json.dumps({"move": table.words.move(action)})


@every_game
@pytest.mark.parametrize("disguise", [None, 5])
def test_a_game_in_words_is_the_game(game, disguise):
    """Played beside the rules: the same moves, positions and returns, in disguise too."""
    table, rng = TextGame(game, COMPACT, disguise=disguise), np.random.default_rng(3)
    table.reset(seed=11)
    states = game.init(1, np.random.default_rng(11))
    while not table.done and states["ply"][0] < 60:
        action = drawn(table, rng)
        outcome = table.answer(f"Let me see. {said(table, action)}")
        assert outcome.played
        assert outcome.reading.action == action
        game.step(states, [action])
        assert table.states.tobytes() == states.tobytes()
    assert table.returns == states["returns"][0].tolist()
    assert all(("The game is over" in table.prompt(player)) == table.done for player in range(game.num_players))
    assert [seen.action for seen in table.histories[0].plies] == [game.string_to_action(text) for text in table.moves]
    verify(table.record(["a"] * game.num_players, seed=11))


@every_game
@pytest.mark.parametrize("position_style", POSITIONS)
def test_what_a_prompt_holds(game, position_style):
    style = PromptStyle(position=position_style, legal_moves=True, rules="short")
    table, rng = TextGame(game, style), np.random.default_rng(5)
    table.reset(seed=2)
    for _ in range(5):
        player, prompt = table.to_move, table.prompt()
        assert f"You are player_{player}" in prompt
        legal = np.flatnonzero(game.legal_action_mask(table.states)[0])
        listed = re.search("^Legal moves: (.*)$", prompt, re.M)[1].split()
        assert sorted(listed) == sorted(game.action_to_string(int(a)) for a in legal)
        found = re.search("^The position as JSON: (.*)$", prompt, re.M)
        assert bool(found) == (position_style in ("both", "json"))
        if found:
            assert json.loads(found[1]) == position(table.words, table.view(player))
        assert (game.to_text(table.view(player)) in prompt) == (position_style in ("both", "picture"))
        assert (f"The board: {game.board_to_string(table.view(player))}" in prompt) == (position_style == "board")
        plain = turn_prompt(table.words, table.view(player), table.histories[player])
        assert "Legal moves" not in plain
        other = (player + 1) % game.num_players
        assert "End your answer" not in table.prompt(other)
        table.play(drawn(table, rng))
        if table.done:
            break
        text = table.moves[-1]
        assert f"{len(table.moves)}. player_{player}: {text}" in table.prompt()


@every_game
def test_rules_in_short_and_whole(game):
    short, whole, none = (TextGame(game, PromptStyle(rules=rules)).system_prompt() for rules in RULES)
    assert game.wording.summary in short
    assert game.wording.geometry in short
    assert "## Notation" in whole
    assert "Credits" not in whole
    assert "What we decided" not in whole
    assert len(none) < len(short) < len(whole)
    assert all('{"move": "..."}' in prompt for prompt in (short, whole, none))


@every_game
def test_the_compact_style_is_the_cheapest_that_tells_the_rules(game):
    rng, tables = np.random.default_rng(1), [TextGame(game, style) for style in (COMPACT, PromptStyle())]
    for table in tables:
        table.reset(seed=4)
    for _ in range(8):
        action = drawn(tables[0], rng)
        for table in tables:
            table.play(action)
        if tables[0].done:
            return
    compact, full = (len(table.prompt()) for table in tables)
    assert compact < full / 2


@small
def test_bad_answers_are_sent_back_and_the_third_forfeits(game):
    table = TextGame(game)
    table.reset(seed=3)
    table.play(drawn(table, np.random.default_rng(0)))
    before, player = table.states.tobytes(), table.to_move
    mask = game.legal_action_mask(table.states)[0]
    illegal = int(np.flatnonzero(~mask)[0])
    plain = table.prompt()
    first = table.answer("I have no idea")
    assert (first.reading.kind, first.played, first.forfeited) == (Kind.UNREADABLE, False, False)
    assert "could not be read" in first.message
    assert "2 attempts left" in first.message
    assert table.prompt() == f"{plain}\n\n{first.message}"
    assert table.prompt(1 - player if game.num_players == 2 else (player + 1) % 3).count(first.message) == 0
    second = table.answer(said(table, illegal))
    assert second.reading.kind is Kind.ILLEGAL
    assert "is illegal in this position" in second.message
    assert "last attempt" in second.message
    assert table.states.tobytes() == before
    third = table.answer('{"move": 12}')
    assert third.forfeited
    assert table.returns[player] < 0
    assert table.moves[-1] == RESIGN
    assert table.done == (game.num_players == 2)
    if not table.done:
        assert f"player_{player} has forfeited the game" in table.prompt()
        while not table.done:
            table.play(drawn(table, np.random.default_rng(1)))
    record = table.record(["a"] * game.num_players, seed=3)
    verify(record)
    assert record.forfeits[0].player == player
    assert "unreadable" in record.forfeits[0].reason
    if game.num_players == 2:
        assert record.ending == FORFEITED


def test_a_good_answer_clears_the_count():
    table, rng = TextGame(Unlur(radius=3), attempts=2), np.random.default_rng(0)
    table.reset(seed=0)
    for _ in range(4):
        assert not table.answer("?").forfeited
        assert table.answer(said(table, drawn(table, rng))).played
    assert "could not be read" not in table.prompt()


def test_starts_from_boards_and_moves():
    table = TextGame(Trinim())
    table.reset(options={"board": "b/bb/bgr/grgg/rbgrr", "moves": ["D4-D2", "A5"]})
    assert "1. player_0: D4-D2 (2 green, 1 blue)" in table.prompt()
    assert '"player_0": {"red": 0, "green": 2, "blue": 1}' in table.prompt()
    record = table.record(["a", "b"])
    assert record.opening == 2
    assert record.board == "b/bb/bgr/grgg/rbgrr"


def test_curio_tells_what_was_seen_of_a_capture():
    table = TextGame(Curio(base=2, rows=4, cols=3))
    table.reset(options={"board": "D12 D11 D22/. . ./. . ./L21 L22 L11", "moves": ["a1-a3", "a4-a3"]})
    light, dark = table.prompt(0), table.prompt(1)
    assert "2. player_1: a4-a3 (captures 2/1, is now 2/1)" in light
    assert "2. player_1: a4-a3 (captures 1/2, is now 1/2)" in dark
    assert '"b1": "own 2/?"' in light
    assert '"b1": "enemy 2/?"' in dark


@pytest.mark.parametrize("history", [0, 1, 3])
def test_only_the_last_plies(history):
    table, rng = TextGame(Unlur(), PromptStyle(history=history)), np.random.default_rng(2)
    table.reset(seed=1)
    for _ in range(5):
        table.play(drawn(table, rng))
    prompt = table.prompt()
    assert len(re.findall(r"^\d+\. player_", prompt, re.M)) == history
    assert (f"The last {history} of 5 moves" in prompt) == (history > 0)


class TestDisguise:
    """The same game under other names."""

    @every_game
    def test_no_name_of_the_game_is_left(self, game):
        table, rng = TextGame(game, PromptStyle(legal_moves=True), disguise=8), np.random.default_rng(1)
        table.reset(seed=6)
        for _ in range(6):
            if table.done:
                break
            told = f"{table.system_prompt()}\n{table.prompt()}"
            seen = {word.lower() for word in re.findall(r"[^\W\d_]+\d*", told)}
            assert not seen & {name.lower() for name in game.board.names}
            words = {*game.wording.terms, *game.cell_free_actions.values()} - {"x", "o"}
            assert not seen & {word.lower() for word in words}
            assert type(game).__name__.lower() not in told.lower()
            assert not seen & {"contract", "fight"}
            table.play(drawn(table, rng))

    @every_game
    def test_the_board_is_the_same_graph(self, game):
        words = Disguise(game, 4)
        graph, number = words.graph(), {name: cell for cell, name in enumerate(words.cells)}
        for name, entry in graph.items():
            found = [-1 if other is None else number[other] for other in entry["neighbours"]]
            assert found == game.board.neighbours[number[name]].tolist()

    @every_game
    def test_a_symmetry_is_only_a_change_of_names(self, game):
        """Telling a position under a symmetry is telling the transformed position without it."""
        seats = tuple(range(game.num_players))
        rng = np.random.default_rng(9)
        for symmetry in [s for s in game.symmetries if tuple(s.players) == seats][:8]:
            turned, plain = Disguise(game, 2, symmetry=symmetry), Disguise(game, 2, symmetry=game.symmetries[0])
            states = positions(game, rng, 3, batch=4)
            for row in range(3):
                state = states[row : row + 1]
                view = game.view(state, int(state["to_move"][0]))
                there = game.transform(view, symmetry)
                style = PromptStyle(legal_moves=True)
                assert turn_prompt(turned, view, style=style) == turn_prompt(plain, there, style=style)
            for action in range(game.num_actions):
                assert turned.move(action) == turned.moves[symmetry.actions[action]]
                assert turned.read(turned.move(action), np.ones(game.num_actions, bool)).action == action

    def test_seeds(self):
        game = Unlur(radius=3)
        assert Disguise(game, 1).moves == Disguise(game, 1).moves != Disguise(game, 2).moves

    def test_names_are_equal_in_every_process(self):
        words = Disguise(Unlur(radius=3), 5)
        assert words.translate("Unlur Black White Y line contract fight") == "Godu Zoge Bepo gepi dara zolu kenu"
        assert words.form == "a text such as 'pesu' or 'zoge'"

    def test_the_whole_rules_cannot_be_disguised(self):
        with pytest.raises(ValueError, match="names the cells"):
            TextGame(Unlur(), PromptStyle(rules="whole"), disguise=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "long"}, "rules is 'long': expected one of short, whole, none"),
        ({"position": "svg"}, "position is 'svg'"),
        ({"history": -1}, "history is -1"),
        ({"history": True}, "history is True"),
        ({"legal_moves": 1}, "legal_moves is 1"),
    ],
)
def test_wrong_styles(options, message):
    with pytest.raises(ValueError, match=message):
        PromptStyle(**options)


def test_wrong_calls():
    table = TextGame(Unlur())
    with pytest.raises(RuntimeError, match="call reset"):
        table.prompt()
    with pytest.raises(ValueError, match="attempts is 0"):
        TextGame(Unlur(), attempts=0)
    with pytest.raises(ValueError, match="reset was given the options"):
        table.reset(options={"opening": 1})
    table.reset(seed=1)
    with pytest.raises(ValueError, match="full state"):
        turn_prompt(table.words, table.states)
    with pytest.raises(ValueError, match="illegal"):
        table.play(Unlur().string_to_action("a1"))
