"""A systematic attack: every argument of the public interface is given everything that it is not.

    python -m tests.faults.bad_inputs

`CALLS` names the calls, each with one argument left open; `values` are what is put there. A call may accept what it is
given; what it raises must be an error of ours: raised by a statement of this repository, in one line that is not long,
and that says what is expected. `foreign` says what is wrong with an error that is none of ours.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import linecache
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from pbm_agents import PIMCAgent, RandomAgent, Search, SearchAgent, as_agent, as_policy, evaluate, make_agent
from pbm_agents.arena import Tournament
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur, make_game, records, register_game
from pbm_envs.core.checks import printable
from pbm_envs.core.randomness import sample_actions
from pbm_envs.envs.factories import make_aec_env, make_raw_env, make_single_env, make_vector_env
from pbm_envs.envs.vector import BoardGameVectorEnv
from pbm_envs.registry import find_game
from pbm_envs.render import Picture
from pbm_envs.text import make_text_env

from .bad_matches import match_calls

Call = Callable[[Any], object]
LONGEST = 1500
"""Characters of an error."""
PLACES = ("/src/pbm_envs/", "/agents/pbm_agents/")
MEGABYTE = "x" * 1_000_000
BATCH = 2


class Unspeakable:
    """What cannot even be shown."""

    def __repr__(self) -> str:
        raise ZeroDivisionError("no text")


class Long:
    """What takes a megabyte to show."""

    def __repr__(self) -> str:
        return MEGABYTE


class Whole:
    """An integer by its own word."""

    def __index__(self) -> int:
        return 1


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


SCALARS: dict[str, Any] = {
    "None": None, "True": True, "False": False, "np.True_": np.True_, "0": 0, "1": 1, "-1": -1, "3": 3, "30": 30,
    "2**31": 2**31, "2**63": 2**63, "2**64": 2**64, "-2**63": -(2**63), "10**30": 10**30, "10**5000": 10**5000,
    "0.5": 0.5, "1.0": 1.0, "nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "1e300": 1e300, "1j": 1j,
    "np.int8": np.int8(1), "np.int64": np.int64(-1), "np.uint64": np.uint64(2**64 - 1), "np.float32": np.float32("nan"),
    "np.float64": np.float64(1), "np.complex": np.complex128(1), "np.datetime64": np.datetime64("2020-01-01"),
    "np.str_": np.str_("a1x"), "np.void": np.zeros(1, "V8")[0], "Fraction": Fraction(1, 2), "Decimal": Decimal("NaN"),
    "Whole": Whole(), "Unspeakable": Unspeakable(), "Long": Long(), "date": datetime(2020, 1, 1), "Path": Path("a"),
    "exception": ValueError("a"), "class": int, "function": len, "lambda": lambda *_: 0, "object": object(), "...": ...,
    "NotImplemented": NotImplemented, "RandomState": np.random.RandomState(0), "generator": np.random.default_rng(0),
}  # fmt: skip
TEXTS: dict[str, Any] = {
    "''": "", "'a'": "a", "'1'": "1", "'a1x'": "a1x", "'resign'": "resign", "surrogate": "\ud800", "nul": "\0",
    "lines": "a\nb\n", "escape": "\x1b[31m", "megabyte": MEGABYTE, "digits": "9" * 5000, "bytes": b"a1x",
    "bytearray": bytearray(b"a"), "memoryview": memoryview(b"ab"), "colon": ":", "numpy:": "numpy:ndarray",
    "nan text": "nan", "kelvin": "\u212a1x", "'random'": "random", "'mcts'": "mcts:simulations=2",
}  # fmt: skip
CONTAINERS: dict[str, Any] = {
    "[]": [], "[0]": [0], "[0, 0]": [0, 0], "[0, 99999]": [0, 99999], "[-1, 0]": [-1, 0], "[0.5, 1]": [0.5, 1],
    "[nan, 0]": [float("nan"), 0], "[None, 0]": [None, 0], "['a', 'b']": ["a", "b"], "['a', 0]": ["a", 0],
    "[True, 0]": [True, 0], "[2**64, 0]": [2**64, 0], "[10**30, 0]": [10**30, 0], "[[0, 0]]": [[0, 0]],
    "ragged": [[0], [0, 1]], "nested": nested(100), "deep": nested(3000), "[object]": [object(), object()],
    "[Long]": [Long(), Long()], "()": (), "(0, 0)": (0, 0), "{}": {}, "{'a': 1}": {"a": 1}, "{0: 1}": {0: 1},
    "{'board': 5}": {"board": 5}, "set": {0, 1}, "frozenset": frozenset({0}), "range": range(2), "iterator": iter(()),
    "generator of": (k for k in (0, 1)),
}  # fmt: skip
ARRAYS: dict[str, Any] = {
    "zeros(0)": np.zeros(0),
    "zeros(2)": np.zeros(2),
    "int zeros(2)": np.zeros(2, int),
    "int zeros(3)": np.zeros(3, int),
    "zeros(2, 2)": np.zeros((2, 2), int),
    "0-d": np.array(0),
    "0-d text": np.array("a"),
    "uint64": np.full(2, 2**64 - 1, np.uint64),
    "uint8": np.zeros(2, np.uint8),
    "int8 -1": np.full(2, -1, np.int8),
    "bool": np.zeros(2, np.bool_),
    "nan array": np.full(2, np.nan),
    "complex array": np.zeros(2, complex),
    "text array": np.zeros(2, "U3"),
    "date array": np.zeros(2, "M8[s]"),
    "object array": np.array([None, 1], object),
    "object ints": np.array([10**30, 0], object),
    "big-endian": np.zeros(2, ">i4"),
    "void array": np.zeros(2, "V8"),
    "structured": np.zeros(2, [("a", int)]),
    "strided": np.zeros(4, int)[::2],
    "masked": np.ma.masked_array([0, 1], [True, False]),
    "5-d": np.zeros((1,) * 5),
    "record array": np.recarray(2, [("a", int)]),
}


def games() -> dict[str, Game]:
    return {
        "chameleon": Chameleon(size=3, allow_resign=True),
        "curio": Curio(base=2, rows=4, cols=3),
        "trinim": Trinim(size=3, num_players=3),
        "unlur": Unlur(radius=3),
    }


def own_states(game: Game) -> dict[str, Any]:
    """Arrays of records that are nearly right: of the game itself and of others."""
    start = game.init(BATCH, np.random.default_rng(0))
    over = game.init(BATCH, np.random.default_rng(0))
    game.playout(over, np.random.default_rng(0))
    read_only = start.copy()
    read_only.flags.writeable = False
    other = Chameleon(size=4).init(BATCH, np.random.default_rng(0))
    return {
        "states": start, "views": game.view(start, 0), "over": over, "one": start[:1].copy(), "none": start[:0].copy(),
        "2-d states": start.reshape(1, BATCH).copy(), "0-d state": start[0], "array state": np.array(start[0]),
        "strided states": game.init(2 * BATCH, np.random.default_rng(0))[::2], "reversed": start[::-1],
        "read-only": read_only, "other's": other, "big-endian states": start.astype(start.dtype.newbyteorder()),
        "packed": start.astype(np.dtype([(n, start.dtype[n]) for n in start.dtype.names or ()])),
        "record states": start.view(np.recarray), "list of states": list(start), "bytes of states": start.tobytes(),
        "dict of states": {name: start[name] for name in start.dtype.names or ()}, "game": game,
        "game class": type(game),
    }  # fmt: skip


def values(game: Game) -> dict[str, Any]:
    """Everything that is put where something else belongs; new each time, since a call may change it."""
    fresh = {name: each.copy() if type(each) is np.ndarray else each for name, each in ARRAYS.items()}
    return {**SCALARS, **TEXTS, **CONTAINERS, "iterator": iter(()), "generator of": (k for k in (0, 1)), **fresh,
            **own_states(game)}  # fmt: skip


def game_calls(game: Game) -> Iterator[tuple[str, Call]]:
    """Those of the rules."""
    rng = np.random.default_rng

    def start() -> Any:
        return game.init(BATCH, rng(0))

    def view() -> Any:
        return game.view(start(), 0)

    for option in game.options:
        yield f"option {option}", lambda bad, option=option: type(game)(**{option: bad})
        yield f"with_options {option}", lambda bad, option=option: game.with_options(**{option: bad})
    yield "init batch_size", lambda bad: None if _huge(bad) else game.init(bad, rng(0))
    yield "init rng", lambda bad: game.init(BATCH, bad)
    yield "init board", lambda bad: game.init(BATCH, rng(0), bad)
    yield "step states", lambda bad: game.step(bad, [0] * BATCH)
    yield "step actions", lambda bad: game.step(start(), bad)
    yield "legal_action_mask states", game.legal_action_mask
    yield "legal_action_mask out", lambda bad: game.legal_action_mask(start(), out=bad)
    yield "view states", lambda bad: game.view(bad, 0)
    yield "view players", lambda bad: game.view(start(), bad)
    yield "view out", lambda bad: game.view(start(), 0, out=bad)
    yield "observe views", game.observe
    yield "observe out", lambda bad: game.observe(view(), out=bad)
    yield "observe_with_mask states", lambda bad: game.observe_with_mask(bad, 0)
    yield "observe_with_mask players", lambda bad: game.observe_with_mask(start(), bad)
    yield "observe_with_mask views", lambda bad: game.observe_with_mask(start(), 0, bad)
    yield "determinize views", lambda bad: game.determinize(bad, rng(0))
    yield "determinize rng", lambda bad: game.determinize(view(), bad)
    yield "validate", game.validate
    yield "resample_start starts", lambda bad: game.resample_start(bad, view(), rng(0))
    yield "resample_start views", lambda bad: game.resample_start(view(), bad, rng(0))
    yield "resample_start rng", lambda bad: game.resample_start(view(), view(), bad)
    yield "playout states", lambda bad: game.playout(bad, rng(0))
    yield "playout rng", lambda bad: game.playout(start(), bad)
    for option in ("avoid_losing_moves", "last_player_by_action", "save_bridges"):
        yield f"playout {option}", lambda bad, option=option: game.playout(start(), rng(0), **{option: bad})
    yield "remove_player", game.remove_player
    yield "transform states", lambda bad: game.transform(bad, game.symmetries[0])
    yield "transform symmetry", lambda bad: game.transform(start(), bad)
    for method in "action_to_string string_to_action board_to_string action_cells scene show status".split():
        yield method, getattr(game, method)
    yield "to_text", game.to_text
    yield "scene heat", lambda bad: game.scene(start()[:1], bad)
    for option in ("public", "size", "theme", "legend", "coordinates", "transparent"):
        yield f"show {option}", lambda bad, option=option: _drawn(game.show(start()[:1], **{option: bad}))
    yield "to_text colour", lambda bad: game.to_text(start()[:1], colour=bad)
    yield "seat player", lambda bad: game.seat(start()[0], bad)
    yield "seat view", lambda bad: game.seat(bad, 0)


def environment_calls(game: Game) -> Iterator[tuple[str, Call]]:
    """Those of the three environments."""
    rules = [*game.options]

    def aec() -> Any:
        env = make_raw_env(game)
        env.reset(seed=1)
        return env

    def checked() -> Any:
        env = make_aec_env(game)
        env.reset(seed=1)
        return env

    def vector(**settings: Any) -> Any:
        envs = BoardGameVectorEnv(game, BATCH, **settings)
        envs.reset(seed=1)
        return envs

    def single() -> Any:
        env = make_single_env(game)
        env.reset(seed=1)
        return env

    def text() -> Any:
        env = make_text_env(game)
        env.reset(seed=1)
        return env

    for kind, make in (("raw", make_raw_env), ("single", make_single_env)):
        yield f"{kind} game", make
        settings = ["render_mode", "render_size", "render_theme", "illegal_action", "history", *rules[:1]]
        settings += ["render_viewer"] if kind == "raw" else ["opponent", "seat"]
        for setting in settings:
            yield (
                f"{kind} {setting}",
                lambda bad, make=make, setting=setting: make(game.name, **{setting: bad}).reset(seed=1),
            )
    yield "vector game", lambda bad: make_vector_env(bad, BATCH)
    yield "vector num_envs", lambda bad: None if _huge(bad) else make_vector_env(game, bad)
    for setting in ("opponent", "seat", "autoreset_mode", "illegal_action", "copy", "history", "buffers", "pin_memory",
                    "render_mode", "render_size", "render_theme", "threads"):  # fmt: skip
        yield f"vector {setting}", lambda bad, setting=setting: vector(**{setting: bad})
    for kind, env in (("raw", aec), ("env", checked), ("single", single), ("vector", vector), ("text", text)):
        yield f"{kind} reset seed", lambda bad, env=env: env().reset(seed=bad)
        yield f"{kind} reset options", lambda bad, env=env: env().reset(options=bad)
        yield f"{kind} reset board", lambda bad, env=env: env().reset(options={"board": bad})
        yield f"{kind} reset moves", lambda bad, env=env: env().reset(options={"moves": bad})
        yield f"{kind} reset [moves]", lambda bad, env=env: env().reset(options={"moves": [bad]})
        yield f"{kind} step", lambda bad, env=env: env().step(bad)
    yield "vector reset_mask", lambda bad: vector().reset(options={"reset_mask": bad})
    yield "vector reset [seed]", lambda bad: vector().reset(seed=[bad, 1])
    yield "vector reset [board]", lambda bad: vector().reset(options={"board": [bad, None]})
    yield "vector set_opponents", lambda bad: vector(opponent="random").set_opponents(bad)
    yield "vector weights", lambda bad: vector(opponent="random").set_opponents(["random", "greedy"], bad)
    yield "single set_opponents", lambda bad: single().set_opponents(bad)
    for method in ("observe", "set_state", "action_space", "observation_space"):
        yield f"raw {method}", lambda bad, method=method: getattr(aec(), method)(bad)
    yield "raw agent_iter", lambda bad: next(iter(aec().agent_iter(bad)), None)
    yield "env agent_iter", lambda bad: next(iter(checked().agent_iter(bad)), None)


def agent_calls(game: Game) -> Iterator[tuple[str, Call]]:
    """Those of agents, searches and tournaments."""
    rng = np.random.default_rng
    search = Search(simulations=2)

    def views() -> Any:
        return game.view(game.init(BATCH, rng(0)), 0)

    yield "make_agent", make_agent
    yield "as_agent", as_agent
    yield "as_policy", as_policy
    yield "as_policy seed", lambda bad: as_policy("random", bad)
    for setting in Search.__dataclass_fields__:
        if setting != "simulations":
            yield f"Search {setting}", lambda bad, setting=setting: make_search(**{"simulations": 2, setting: bad})
    yield "Search simulations", lambda bad: Search(simulations=bad)
    yield "Search seconds alone", lambda bad: Search(seconds=bad)
    yield "run game", lambda bad: search.run(bad, views(), rng(0))
    yield "run views", lambda bad: search.run(game, bad, rng(0))
    yield "run rng", lambda bad: search.run(game, views(), bad)
    yield "run workspace", lambda bad: search.run(game, views(), rng(0), workspace=bad)
    yield "run evaluator", lambda bad: Search(simulations=2, evaluator=lambda *_: bad).run(game, views(), rng(0))
    yield "policy temperature", lambda bad: search.run(game, views(), rng(0))[0].policy(bad)
    yield "sample rng", lambda bad: search.run(game, views(), rng(0))[0].sample(bad)
    yield "SearchAgent", SearchAgent
    yield "SearchAgent temperature", lambda bad: SearchAgent(search, temperature=bad)
    yield "PIMCAgent worlds", lambda bad: PIMCAgent(worlds=bad, simulations=2)
    for name, agent in (("random", RandomAgent()), ("search", SearchAgent(search)), ("greedy", make_agent("greedy"))):
        yield f"{name} act game", lambda bad, agent=agent: agent.act(bad, views(), rng(0))
        yield f"{name} act views", lambda bad, agent=agent: agent.act(game, bad, rng(0))
        yield f"{name} act rng", lambda bad, agent=agent: agent.act(game, views(), bad)
    yield "sample_actions", lambda bad: sample_actions(bad, rng(0))
    yield "sample_actions rng", lambda bad: sample_actions(np.ones((BATCH, 3), np.bool_), bad)
    yield "evaluate policy", lambda bad: evaluate(bad, game, games=1)
    yield "evaluate game", lambda bad: evaluate("random", bad, games=1)
    yield "evaluate answers", lambda bad: evaluate(lambda o, m: bad, game, games=1)
    for setting in ("opponents", "games", "seed", "opening_moves"):
        yield f"evaluate {setting}", lambda bad, setting=setting: _evaluated(game, setting, bad)
    for field in Tournament.__dataclass_fields__:
        given = {"games": (game,), "agents": ("random", "greedy")}
        yield f"Tournament {field}", lambda bad, field=field, given=given: Tournament(**{**given, field: bad})


def registry_calls(game: Game) -> Iterator[tuple[str, Call]]:
    """Those of names, records and pictures."""
    end = game.init(1, np.random.default_rng(0))
    good = records.make_record(game, end, [], end, agents=("random",) * game.num_players)
    picture = game.show(end)
    yield "make_game", make_game
    yield "find_game", find_game
    yield "register_game", register_game
    yield "from_json", records.GameRecord.from_json
    yield "read_records", lambda bad: None if isinstance(bad, int) else list(records.read_records(bad))
    yield "replay", lambda bad: list(records.replay(bad))
    yield "verify", records.verify
    for field in records.FIELDS:
        yield f"record {field}", lambda bad, field=field: list(records.replay(replace(good, **{field: bad})))
    yield "Picture", lambda bad: Picture(bad)
    yield "Picture size", lambda bad: Picture(picture.scene, bad)
    yield "Picture theme", lambda bad: Picture(picture.scene, 100, bad)
    yield "Picture save", lambda bad: None if isinstance(bad, int) else picture.save(bad)


def _huge(bad: Any) -> bool:
    """A number of games that would be allowed, if there were memory for it."""
    return isinstance(bad, (int, np.integer)) and 1_000_000 < bad <= 2**31


def _drawn(picture: Any) -> None:
    picture._repr_svg_()


def _evaluated(game: Game, setting: str, bad: Any) -> None:
    if setting == "games" and isinstance(bad, (int, np.integer)) and bad > 100:
        return  # a number of games that would be allowed
    evaluate("random", game, **{"games": 1, setting: bad})


class Answer(NamedTuple):
    call: str
    value: str
    problem: str
    """What is wrong with the error; "" if nothing is."""


FAMILIES = (game_calls, environment_calls, agent_calls, registry_calls, match_calls)


def _frames(trace: TracebackType | None) -> list[tuple[str, str]]:
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append((code.co_filename, linecache.getline(code.co_filename, trace.tb_lineno).strip()))
        trace = trace.tb_next
    return found


PLAIN = (ValueError, TypeError, RuntimeError, ImportError, AssertionError, OSError)


def foreign(error: BaseException) -> str:
    """What is wrong with an error; "" for one of ours."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception as other:
        return f"{kind} without a text ({other!r})"
    if not isinstance(error, PLAIN):
        return f"{kind}: {text[:200]}"
    frames = _frames(error.__traceback__)
    file, line = frames[-1]
    ours = any(place in file for place in PLACES)
    if isinstance(error, OSError) and not isinstance(error, ImportError):
        return "" if any(place in file for place in (*PLACES, "pathlib")) else f"{kind} from {file}: {text[:200]}"
    if not ours or not line.startswith(("raise", "assert", 'f"', '"', ")", "(")):
        return f"{kind} at {file.rpartition('/')[2]}, {line[:60]!r}: {text[:200]}"
    if len(text) > LONGEST:
        return f"{kind} of {len(text)} characters: {text[:100]}"
    if "\n" in text or not text.isprintable():
        return f"{kind} in several lines or unprintable: {text[:100]!r}"
    return ""


def attack(family: Callable[[Game], Iterator[tuple[str, Call]]], game: Game, share: int = 1) -> Iterator[Answer]:
    """Every call of a family with every value, or with one in `share` of them, which are others for each call."""
    for number, (name, call) in enumerate(family(game)):
        for label in list(values(game))[number % share :: share]:
            bad = values(game)[label]
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    call(bad)
                problem = ""
            except (Exception, SystemExit) as error:
                problem = foreign(error)
            yield Answer(name, label, problem)


def main() -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for name, game in games().items():
        for family in FAMILIES:
            for answer in attack(family, game):
                counts["inputs"] += 1
                if answer.problem:
                    counts["foreign errors"] += 1
                    print(printable(f"{name}: {answer}"), flush=True)
    print(f"{counts['inputs']} bad inputs, {counts['foreign errors']} errors that are not ours")


if __name__ == "__main__":
    main()
