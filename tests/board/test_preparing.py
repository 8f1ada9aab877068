"""What a board says while rules are compiled: to whom, and a bar that moves with the kernels, by nothing else."""

import os
import re
import subprocess
import sys

import pytest

from pbm_envs import Chameleon
from pbm_envs.core import compiling as compiling_module
from pbm_envs.core.compiling import COMPILING
from tests.board.boards import Person, measured, start


class Kernel:
    """A kernel of a game that is not on disk."""

    def __init__(self, number):
        self.module, self.name = "pbm_envs.games.chameleon.rules", f"kernel {number}"

    def is_kept(self):
        return False


def compile_a_kernel(kernel):
    COMPILING.begin(kernel)
    COMPILING.ready.add(kernel.name)
    COMPILING.end(kernel)


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


def test_whoever_waits_is_told_how_many_kernels_have_been_compiled(monkeypatch):
    """While agents think, since then somebody waits; nobody else hears of what other boards compile."""
    from tests.board.agents import GO

    monkeypatch.setattr(compiling_module.logger, "warning", lambda *_: None)
    monkeypatch.setattr(COMPILING, "_parts", {})
    monkeypatch.setattr(COMPILING, "_outstanding", {})
    monkeypatch.setattr(COMPILING, "ready", set())
    kernels = [Kernel(number) for number in range(61)]
    for kernel in kernels:
        COMPILING.register(kernel)
    GO.clear()
    with Noticing(start(Chameleon(size=3), "person", "tests.board.agents:Waiting")) as person:
        before = len(person.notices)
        compile_a_kernel(kernels[0])
        person.say("play", move="b2x")
        while not person.hear("position")["thinking"]:
            pass
        for kernel in kernels[1:]:
            compile_a_kernel(kernel)
        GO.set()
        person.settle()
        told = person.notices[before:]
    counts = [notice["compiled"] for notice in told]  # the game may compile kernels of its own meanwhile
    assert counts == sorted(counts)
    assert set(counts) == set(range(1, 62))
    assert {notice["expected"] for notice in told} == {61}
    assert {notice["running"] for notice in told} == {True, False}
    assert told[0]["text"] == "Preparing the rules on this machine, once: 1 of 61"


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
            enabled = ".pbm-orders button:enabled, .pbm-typing :enabled, .pbm-bar button:enabled"
            names = measured(page, enabled, "each => each.ariaLabel ?? each.textContent")
            assert sorted(names) == ["Sound", "dark or light colours"]  # what needs no game
            values = page.evaluate("""async () => {
                const values = [];
                while (!document.querySelector(".pbm-picture [data-cell]")) {
                    values.push(document.querySelector(".pbm-preparing progress").value);
                    await new Promise((resolve) => setTimeout(resolve, 100));
                }
                return values;
            }""")
            assert values == sorted(values)
            assert len(set(values)) > 1
            page.wait_for_selector(".pbm[data-turn=mine]")
            assert page.get_by_role("button", name="Hint").is_enabled()
            notice.wait_for(state="hidden")
        finally:
            process.kill()
