"""Whatever is given to the public interface, what comes back is no foreign exception: the attack of `bad_inputs`.

Here at most a third of it; `python -m tests.faults.bad_inputs` has all.
"""

import pytest

from tests.environments import NAMES
from tests.faults import bad_inputs
from tests.faults.bad_inputs import FAMILIES, attack, foreign

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("share", [pytest.param(16, id="some"), pytest.param(3, id="many", marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_ours(name, family, share, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some texts are names of files
    answers = list(attack(family, bad_inputs.games()[name], share))
    assert len(answers) > 1500 / share
    assert not [answer for answer in answers if answer.problem]


def test_the_attack_would_notice():
    def error_of(function):
        try:
            function()
        except Exception as error:
            return foreign(error)
        return "nothing was raised"

    assert error_of(lambda: {}["a"]).startswith("KeyError")
    assert error_of(lambda: bad_inputs.games()["unlur"].init(-1, None)) == ""
    assert "at test_bad_inputs.py" in error_of(lambda: int("a"))
    assert error_of(lambda: bad_inputs.games()["unlur"].init("a" * 9999, None)) == ""
