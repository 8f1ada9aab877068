"""Answers that are kept: a run that is cut off resumes, and a language model's exploitability is measured."""

import json

import pytest
from pbm_agents import InfrastructureError
from pbm_agents.cli.app import app
from pbm_agents.equilibrium import PublicTree, exploitability_bounds
from pbm_agents.equilibrium.recorded import RecordedAgent
from pbm_agents.players.agent import RandomAgent
from typer.testing import CliRunner

from pbm_envs import make_game


class Mute:
    """Plays at random, counts the views, and finds no move in some."""

    def __init__(self, fails=()):
        self.asked, self.fails = 0, fails

    def act(self, game, views, rng):
        self.asked += len(views)
        if self.asked in self.fails:
            raise RuntimeError("no legal move")
        return RandomAgent().act(game, views, rng)


def test_a_run_resumes_where_its_requests_were_used_up(tmp_path):
    tree, path = PublicTree.build(make_game("curio-ladder-1")), tmp_path / "answers.jsonl"
    sets, asked = tree.num_information_sets, 0
    while True:
        agent = Mute(fails={3})
        recorded = RecordedAgent(agent, "mute", path, requests=500)
        try:
            found = exploitability_bounds(tree, recorded, samples=2)
        except InfrastructureError:
            assert agent.asked == 500
            asked += 500
            continue
        break
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert asked + agent.asked == len(lines) == 2 * sets
    assert sum(not line["legal"] for line in lines) == 3  # one in each run
    again = exploitability_bounds(tree, RecordedAgent(Mute(), "mute", path, requests=0), samples=2)
    assert (again.low, again.high) == (found.low, found.high)
    with pytest.raises(InfrastructureError, match="run again"):
        exploitability_bounds(tree, RecordedAgent(Mute(), "another", path, requests=0), samples=2)


def test_answers_that_are_none_are_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("{}\n")
    with pytest.raises(ValueError, match="an answer"):
        RecordedAgent(Mute(), "mute", path)


def test_the_command_asks_a_language_model(tmp_path):
    """A scripted server, which plays at random: a few positions in each run, the next ones in the next run."""
    pytest.importorskip("openai")
    from tests.text.chat_server import chat_server, random_player

    path = tmp_path / "answers.jsonl"
    with chat_server(random_player()) as server:
        agent = f"llm:model=scripted,url={server.url},legal_moves=true"
        words = ["exploit", agent, "-g", "curio-ladder-1", "--samples", "2", "--answers", str(path)]
        for runs in (1, 2):
            result = CliRunner().invoke(app, [*words, "--max-requests", "5"])
            assert result.exit_code == 3, result.output
            assert "run again" in " ".join(result.output.split())
            assert len(path.read_text().splitlines()) == 5 * runs
            assert len(server.requests) == 5 * runs
    result = CliRunner().invoke(app, ["exploit", "random", "-g", "curio-ladder-1", "--max-requests", "5"])
    assert result.exit_code == 2
    assert "needs --answers" in result.output
