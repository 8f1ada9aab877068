"""Whatever is given to the public interface, what comes back is no foreign exception: the attack of `bad_inputs`.

Here at most a third of it; `python -m tests.faults.bad_inputs` has all.
"""

import pytest

from tests.environments import NAMES
from tests.faults import bad_inputs
from tests.faults.bad_inputs import FAMILIES, attack

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("share", [pytest.param(16, id="some"), pytest.param(7, id="many", marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_ours(name, family, share, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some texts are names of files
    answers = list(attack(family, bad_inputs.games()[name], share))
    assert len(answers) > 1500 / share
    assert not [answer for answer in answers if answer.problem]
