"""What a board says while rules are compiled: to whom, and a bar that moves with the kernels, by nothing else."""

import json
import os
import re
import subprocess
import sys

import pytest
from pbm_agents.play.preparing import FIRST, LATER

from pbm_envs import Chameleon, registered_games
from pbm_envs.core.kernels import ANNOUNCEMENTS
from tests.board.boards import PATIENCE, Person, start

COLD = """
import json, sys
from pbm_envs import make_game
from pbm_envs.core.kernels import ANNOUNCEMENTS
from tests.board.boards import Person, start
compiled = []
ANNOUNCEMENTS.listeners.add(lambda part, done: compiled.append(part) if done else None)
begin = start(make_game(sys.argv[1]), "person", "random", seed=1, hint="mcts:simulations=100")
with Person(begin, at_once=False) as person:
    person.settle() if person.position["thinking"] else None
    first = len(compiled)
    person.play(person.position["legal"][0]["move"])
    person.do("hint")
print(json.dumps([first, len(compiled) - first]))
"""


def compile_a_kernel():
    for done in (False, True):
        for listener in tuple(ANNOUNCEMENTS.listeners):
            listener("the rules of chameleon", done)


class Noticing(Person):
    """Keeps what is said of compiling."""

    def __init__(self, *args, **kwargs):
        self.notices = []
        super().__init__(*args, **kwargs)

    def next_message(self):
        message = super().next_message()
        if message["type"] == "preparing":
            self.notices.append(message)
        return message


def test_whoever_waits_is_told_how_many_kernels_have_been_compiled():
    """While agents think, since then somebody waits; nobody else hears of what other boards compile."""
    from tests.board.agents import GO

    GO.clear()
    with Noticing(start(Chameleon(size=3), "person", "tests.board.agents:Waiting")) as person:
        before = len(person.notices)
        compile_a_kernel()
        person.say("play", move="b2x")
        while not person.hear("position")["thinking"]:
            pass
        for _ in range(60):
            compile_a_kernel()
        GO.set()
        person.settle()
        told = person.notices[before:]
    assert [notice["running"] for notice in told[:4]] == [True, False, True, False]
    counts = [notice["compiled"] for notice in told]
    assert len(told) == 120
    assert counts == sorted(counts)
    assert counts[-1] - counts[0] == 60
    shares = [notice["compiled"] / notice["expected"] for notice in told]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
    assert told[0]["text"].startswith("Preparing the rules on this machine, once")


@pytest.mark.slow
@pytest.mark.parametrize("game", registered_games())
def test_about_as_many_kernels_are_compiled_as_the_bar_expects(game, tmp_path):
    """With an empty cache: until the first position, and then until a search has been made."""
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COLD, game]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=5 * PATIENCE)
    first, later = json.loads(done.stdout)
    assert first == pytest.approx(FIRST[game], abs=3, rel=0.2)
    assert later == pytest.approx(LATER[game], rel=0.2)


@pytest.mark.slow
def test_a_first_visit_shows_a_bar_that_moves(context, tmp_path):
    """`pbm serve` on a machine where nothing has been compiled: a notice with a bar, no button that does nothing."""
    words = ["serve", "curio", "person", "random", "--port", "0", "--no-open"]
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pbm_agents.cli", *words]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            address = re.search(r"http://\S+", process.stdout.readline())[0]
            page = context.new_page()
            page.goto(address)
            notice = page.locator(".pbm-preparing")
            notice.wait_for()
            assert notice.inner_text().startswith("Preparing the rules on this machine, once")
            assert (
                page.locator(".pbm-orders button:enabled, .pbm-typing :enabled, .pbm-bar button:enabled").count() == 1
            )
            values = page.evaluate("""async () => {
                const values = [];
                while (!document.querySelector(".pbm-picture [data-cell]")) {
                    values.push(document.querySelector(".pbm-preparing progress").value);
                    await new Promise((resolve) => setTimeout(resolve, 100));
                }
                return values;
            }""")
            assert values == sorted(values)
            assert len(set(values)) > 5
            page.wait_for_selector(".pbm[data-turn=mine]")
            assert page.get_by_role("button", name="Hint").is_enabled()
            notice.wait_for(state="hidden")
        finally:
            process.terminate()
