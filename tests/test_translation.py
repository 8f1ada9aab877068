"""Python translated to JavaScript (`browser/translate.py`) gives the same results, in Node."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

BROWSER = Path(__file__).parents[1] / "browser"
WORDS = {"a": ("one", "two"), "b": (), "parts": "a-b-c-d"}
EMPTY, FULL = [], [0]


class Pair(NamedTuple):
    left: int
    right: int = 5


@dataclass(frozen=True)
class Box:
    name: str
    sizes: tuple[int, ...] = ()
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def total(self):
        return sum(self.sizes)

    @cached_property
    def label(self):
        return f"{self.name:>4}|{self.total:,}"

    @classmethod
    def of(cls, *sizes):
        return cls("some", tuple(sizes))


class Heavy(Box):
    def weigh(self, times=2, *, extra=0):
        return times * self.total + extra


@cache
def doubled(text):
    return text * 2


def numbers():
    halves = [round(x, 1) for x in (0.25, 0.35, -0.25, 1.05, 2.5, 0.75)]
    return [
        *halves,
        round(2.5),
        round(3.5),
        -7 // 2,
        -7 % 3,
        7 / 2,
        2**10,
        f"{123456.78:.8g}",
        f"{12:>5}",
        f"{1234567:,}",
    ]


def texts():
    first, *middle, last = WORDS["parts"].split("-")
    text = f"{first!r}{middle}{last}" + "x" * (len(middle) == 2) + "y" * False
    return [
        text,
        " A b ".strip().lower(),
        "abc"[-2:],
        "abc"[::-1],
        "b" in "abc",
        "x.y".partition("."),
        "a,b".replace(",", ";"),
    ]


def collections():
    found = {name: len(each) for name, each in WORDS.items() if name != "c"}
    found |= {"c": 7}
    best = max(found, key=lambda name: found[name])
    pairs = sorted(((v, k) for k, v in found.items()), reverse=True)
    rest = [k for k in found if found[k] < 5 <= found["c"]]
    rest[1:] = ["z"]
    return [
        found,
        best,
        pairs,
        rest,
        EMPTY or "none",
        FULL and 3,
        not EMPTY,
        found.get("d", "no"),
        sum(v > 1 for v in found.values()),
    ]


def objects():
    left, right = Pair(2)
    heavy = Heavy("h", (1, 2), {"k": 1})
    other = replace(heavy, sizes=(3000,))
    return [
        left,
        right,
        heavy.weigh(extra=1),
        heavy.weigh(3),
        other.label,
        other.label,
        Box.of(1, 2).total,
        heavy == Heavy("h", (1, 2), {"k": 1}),
    ]


def arrays():
    board = np.array([[0, 1, 2], [2, 0, 1]])
    flat = board.reshape(-1)
    kept = np.where(board == 1, -1, board)
    sums = board.sum(axis=1, keepdims=True)
    flat[flat == 2] = 9
    return [
        np.flatnonzero(board == 0).tolist(),
        int(board[1, 0]),
        kept.tolist(),
        (board - sums).tolist(),
        flat.tolist(),
        bool((board >= 0).all()),
    ]


def generators():
    def pairs(count):
        for k in range(count):
            if k == 1:
                continue
            yield k, count
        yield from [(9, 9)]

    return [list(pairs(3)), next((a for a, _ in pairs(5) if a > 1), None), any(a == 9 for a, _ in pairs(0))]


def errors():
    said = []
    for text in ("7", "x", None):
        try:
            said.append(int(text))
        except ValueError as error:
            said.append("wrong" if "invalid" in str(error) else "strange")
        except TypeError:
            said.append("no text")
        finally:
            said.append(doubled("."))
    return said


FUNCTIONS = [numbers, texts, collections, objects, arrays, generators, errors]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_functions_give_the_same_in_javascript(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(BROWSER))
    from translate import Translator

    translator = Translator({}, frozenset(), {}, frozenset(), home=__name__)
    names = [translator.use(function) for function in FUNCTIONS]
    body = translator.finish()
    calls = ", ".join(f"{name}()" for name in names)
    script = tmp_path / "translated.mjs"
    runtime = (BROWSER / "runtime.mjs").as_uri()
    script.write_text(f'import * as R from "{runtime}";\n{body}\nconsole.log(JSON.stringify(R.toJson([{calls}])));\n')
    done = subprocess.run(["node", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for function, found in zip(FUNCTIONS, json.loads(done.stdout), strict=True):
        assert found == json.loads(json.dumps(function())), function.__name__


def test_what_cannot_be_translated_is_named(monkeypatch):
    monkeypatch.syspath_prepend(str(BROWSER))
    from translate import Translator

    def matches(value):
        match value:
            case 1:
                return "one"

    with pytest.raises(TypeError, match=r"matches: Match"):
        Translator({}, frozenset(), {}, frozenset(), home=__name__).use(matches)
    sys.modules.pop("translate", None)
