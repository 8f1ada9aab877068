"""How many small mistakes in rules, views and worlds would the tests notice? Without the compiler.

    nice -n 10 python -m tests.mutation --minutes 30 --processes 2

Each mutant is one changed operator, number, condition or statement of one function. A process that has everything
imported forks; the child puts the mutant's code in the place of the function's and runs `checks` until one raises. A
check that takes five times as long as with the unchanged rules is in an endless loop, and the mutant noticed too.
Mutants are drawn in a random order, so that those tried in a limited time are a fair sample. Results are kept in
build/mutation.json, for the mutants whose function has not changed since; survivors that change nothing that can be
observed are listed, with the reason, in equivalent.json.
"""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"

import argparse
import hashlib
import importlib
import io
import json
import random
import resource
import sys
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.mutation import checks
from tests.mutation.mutants import Mutant, function_at, mutants_of

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RESULTS, EQUIVALENT = ROOT / "build" / "mutation.json", HERE / "equivalent.json"
MODULES = ["chains"]
MODULES += [f"{game}.{part}" for game in ("chameleon", "trinim", "unlur", "curio") for part in ("rules", "view")]
MODULES += [f"curio.{part}" for part in ("pieces", "inference", "moves", "worlds", "conditions", "chain")]
GAMES = ("chains", "chameleon", "trinim", "unlur", "curio", "curio.chain")
ENDLESS, SURVIVED = "endless loop", "survived"


def game_of(mutant: Mutant) -> str:
    """Whose checks are to notice the mutant."""
    module = mutant.module.removeprefix("pbm_envs.games.")
    return "curio.chain" if module in ("curio.chain", "curio.conditions") else module.partition(".")[0]


class Limit:
    """On the processor time of each check in this process: five times what it takes with the unchanged rules."""

    def __init__(self) -> None:
        self.usual: dict[tuple[str, int], float] = {}

    def learn(self) -> None:
        """Measure every check."""
        for game in GAMES:
            for k, (_, check) in enumerate(checks.checks(game)):
                before = time.process_time()
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    check()
                self.usual[game, k] = time.process_time() - before

    def start(self, game: str, k: int) -> None:
        """The process ends if the k-th check of the game takes too long from now on."""
        until = int(time.process_time() + 3 + 5 * self.usual[game, k])
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


LIMIT = Limit()


def start_child(game: str, mutant: Mutant | None) -> tuple[int, int]:
    """A child process that runs the game's checks (None: of the rules as they are), and where to read its answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
            forget()
            if mutant is not None and (code := mutant.code()) is not None:
                function_at(importlib.import_module(mutant.module), mutant.function).__code__ = code
            os.write(writing, _noticed(game).encode())
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


def answer(reading: int, status: int) -> str:
    """Which check of an ended child has noticed its mutant, or SURVIVED."""
    with os.fdopen(reading) as answers:
        return answers.read() or (ENDLESS if os.WIFSIGNALED(status) else "crash")


def forget() -> None:
    """Empty what functions of the modules have kept of their results."""
    for name in MODULES:
        for each in vars(importlib.import_module(f"pbm_envs.games.{name}")).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


def _noticed(game: str) -> str:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for k, (name, check) in enumerate(checks.checks(game)):
            LIMIT.start(game, k)
            try:
                check()
            except BaseException:  # whatever it is, the mutant was noticed
                return name
    return SURVIVED


def fingerprint(mutant: Mutant) -> str:
    """Of the function that the mutant changes, as it is: an older result holds no longer if that has changed."""
    code = function_at(importlib.import_module(mutant.module), mutant.function).__code__
    constants = [each for each in code.co_consts if not hasattr(each, "co_code")]
    return hashlib.sha256(repr((code.co_code, constants, code.co_names)).encode()).hexdigest()[:12]


def all_mutants() -> list[Mutant]:
    """Of all modules, in a random order that is always the same."""
    found: list[Mutant] = []
    for name in MODULES:
        found += mutants_of(importlib.import_module(f"pbm_envs.games.{name}"))
    random.Random(2011).shuffle(found)
    return found


def known_results(marks: dict[str, str]) -> dict[str, dict[str, str]]:
    """Those of before, of mutants whose function has not changed: `marks` has the fingerprints by name."""
    old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return {name: each for name, each in old.items() if marks.get(name) == each["function"]}


def summary(results: dict[str, dict[str, str]]) -> str:
    """A table by module, and the survivors."""
    equivalent = json.loads(EQUIVALENT.read_text())
    lines = []
    for module in [*MODULES, ""]:
        rows = {name: each["noticed"] for name, each in results.items() if name.startswith(module)}
        left = [name for name, how in rows.items() if how == SURVIVED]
        different = [name for name in left if name not in equivalent]
        tried = len(rows) - (len(left) - len(different))
        share = 1 - len(different) / tried if tried else 1.0
        lines.append(
            f"{module or 'all':18} {len(rows):5} tried {len(left) - len(different):4} equivalent {share:7.1%} noticed"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a mutant's name")
    parser.add_argument("--again", action="store_true", help="try survivors again that are not in equivalent.json")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    until = time.monotonic() + 60 * arguments.minutes
    mutants = all_mutants()
    marks = {mutant.name: fingerprint(mutant) for mutant in mutants}
    results = known_results(marks)
    known = set(results)
    if arguments.again:
        equivalent = json.loads(EQUIVALENT.read_text())
        known -= {name for name, each in results.items() if each["noticed"] == SURVIVED and name not in equivalent}
    waiting = [mutant for mutant in mutants if mutant.name not in known and arguments.only in mutant.name]
    waiting.sort(key=lambda mutant: mutant.name not in results)  # old survivors first
    print(f"{len(mutants)} mutants, {len(known)} known, {len(waiting)} to try", flush=True)
    checks.learn()
    LIMIT.learn()
    for game in GAMES:
        child, reading = start_child(game, None)
        if (how := answer(reading, os.waitpid(child, 0)[1])) != SURVIVED:
            raise SystemExit(f"the unchanged rules of {game} fail: {how}")

    running: dict[int, tuple[Mutant, int]] = {}
    waiting.reverse()
    while running or (waiting and time.monotonic() < until):
        while len(running) < arguments.processes and waiting and time.monotonic() < until:
            mutant = waiting.pop()
            child, reading = start_child(game_of(mutant), mutant)
            running[child] = mutant, reading
        child, status = os.wait()
        mutant, reading = running.pop(child)
        how = answer(reading, status)
        results[mutant.name] = {"function": marks[mutant.name], "noticed": how}
        if how == SURVIVED:
            print(f"survived: {mutant.name}", flush=True)
        if len(results) % 20 == 0:
            save(results)
    save(results)
    print(summary(results))


def save(results: dict[str, dict[str, str]]) -> None:
    text = json.dumps(dict(sorted(dict(results).items())), indent=0)
    part = RESULTS.with_suffix(".part")
    part.parent.mkdir(exist_ok=True)
    part.write_text(text + "\n")
    part.replace(RESULTS)


if __name__ == "__main__":
    sys.exit(main())
