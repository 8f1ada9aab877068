"""Mutated files and messages: whatever they hold, loading them ends in our ValueError, or works.

    python -m tests.faults.foreign_files --count 100000        # of each format, on both cores
    python -m tests.faults.foreign_files tree --seed 7

Each batch runs in a child process, so that a signal, such as a segmentation fault in compiled code, is seen. A name in
a mutated file may be that of a module which the child must not import.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pbm_envs import Chameleon, Curio, make_game
from pbm_envs.records import append_records, read_records, verify

EVIL = "this_module_must_not_be_imported"
SPLICES = (
    f"{EVIL}:Game", "json:loads", "", "\0", "9" * 400, "1e999999999", "-1", "NaN", "[" * 3000, '{"a":' * 2000,
    "chameleon", "curio-ladder-1", "..", "true", "null", "4294967296", "0.5", "\ud800",
)  # fmt: skip
VALUES = (*SPLICES, None, True, -1, 0, 1 << 62, 1e300, [], {}, [[]], {"a": 1}, ["x"] * 100)
BATCH, BATCHES = 2000, 10
"""Files of one seed, and how many batches of files a child loads: to start one takes as long as to load a thousand."""
ROOT = Path(__file__).parents[2]
SECONDS = 120
"""A file that takes longer than this was not read in linear time."""
MEMORY = 4 << 30
"""Bytes of address space that a child may take beyond what it needs to start."""

Load = Callable[[Path], object]


def record_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents import RandomAgent
    from pbm_agents.arena import Opening, play_games

    agents = {"random": RandomAgent()}
    append_records(folder / "sample", play_games(Chameleon(size=3), agents, [["random"] * 2], [Opening(0)], seed=0))
    return (folder / "sample").read_bytes(), lambda path: [verify(record) for record in read_records(path)]


def ladder_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.arena.ladder import ladder_of_json, load_ladder

    return load_ladder("trinim-5").to_json().encode(), lambda path: ladder_of_json(_text(path))


def puzzle_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_envs.text.puzzles import Puzzle, load_puzzles, score

    def load(path: Path) -> object:
        puzzle = Puzzle.from_json(_text(path))
        return puzzle.prompt(), score(puzzle, '{"answer": "1/2"}')

    return load_puzzles("curio")[0].to_json().encode(), load


def answer_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_envs.text import Vocabulary

    game = Curio(base=2, rows=4, cols=3)
    words, legal = Vocabulary(game), np.ones(game.num_actions, bool)
    sample = 'I think.\n```json\n{"move": "a1-a2", "why": {"a": [1, 2]}}\n```\nMove: [a1-a2] or a1 to a2.'
    return sample.encode(), lambda path: words.reader.answer(_text(path), legal)


def tree_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.equilibrium import PublicTree, exploitability

    PublicTree.build(Curio(base=2, rows=2, cols=3, no_capture_limit=1)).save(folder / "sample")

    def load(path: Path) -> object:
        tree = PublicTree.load(path)
        return exploitability(tree, tree.uniform_policy())

    return (folder / "sample").read_bytes(), load


def policy_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.equilibrium import Policy, PublicTree, exploitability

    tree = PublicTree.build(Curio(base=2, rows=2, cols=3, no_capture_limit=1))
    tree.uniform_policy().save(folder / "sample")
    return (folder / "sample").read_bytes(), lambda path: exploitability(tree, Policy.load(tree, path))


def network_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.learning.network import PolicyValueNetwork

    PolicyValueNetwork(Chameleon(size=3), 4, 1).save(folder / "sample")
    return (folder / "sample").read_bytes(), lambda path: _play(PolicyValueNetwork.load(path).evaluator())


def recurrent_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.learning.recurrent import RecurrentNetwork

    RecurrentNetwork(Chameleon(size=3), 4).save(folder / "sample")
    return (folder / "sample").read_bytes(), RecurrentNetwork.load


def onnx_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.learning.network import PolicyValueNetwork
    from pbm_agents.learning.onnx_evaluator import OnnxEvaluator, export_onnx

    export_onnx(PolicyValueNetwork(Chameleon(size=3), 4, 1), folder / "sample")
    return (folder / "sample").read_bytes(), lambda path: _play(OnnxEvaluator(path))


def small_network_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.learning.small_network import SmallNetwork

    from tests.search.test_small_network import network_of

    network_of(Chameleon(size=3)).save(folder / "sample")
    return (folder / "sample").read_bytes(), lambda path: _play(SmallNetwork.load(path))


def buffer_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.learning.replay_buffer import ReplayBuffer

    ReplayBuffer(folder / "buffer", Chameleon(size=3), 4)

    def load(path: Path) -> object:
        (folder / "buffer" / "returns.npy").write_bytes(path.read_bytes())
        return ReplayBuffer(folder / "buffer", Chameleon(size=3), 4)

    return (folder / "buffer" / "returns.npy").read_bytes(), load


def message_format(folder: Path) -> tuple[bytes, Load]:
    from pbm_agents.play.limits import Limits
    from pbm_agents.play.start import parse_start

    from pbm_envs.foreign import parse_object

    agent = "mcts:simulations=10,parallel_simulations=2"
    sample = {"do": "new", "game": "chameleon", "options": ["size=3"], "players": ["person", agent], "seed": "1"}

    def load(path: Path) -> object:
        return parse_start(parse_object(_text(path), "a message"), "random", Limits())

    return json.dumps(sample).encode(), load


FORMATS: dict[str, Callable[[Path], tuple[bytes, Load]]] = {
    name.removesuffix("_format"): make for name, make in list(globals().items()) if name.endswith("_format")
}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _play(evaluator: object) -> object:
    from pbm_agents import Search

    game = make_game("chameleon", size=3)
    return Search(simulations=8, evaluator=evaluator).run(
        game, game.init(1, np.random.default_rng(0)), np.random.default_rng(0)
    )


def mutate(sample: bytes, rng: np.random.Generator) -> bytes:
    """Change a sample: a value of its JSON, some bytes, or its length."""
    if rng.random() < 0.5:
        try:
            head, newline, rest = sample.partition(b"\n") if not sample.startswith(b"{\n") else (sample, b"", b"")
            return (
                json.dumps(_with_another_value(json.loads(head), rng)).encode(errors="surrogateescape") + newline + rest
            )
        except ValueError:
            pass
    data = bytearray(sample)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(data) + 1))
        kind = rng.integers(5)
        if kind == 0 and data:
            data[at % len(data)] = int(rng.integers(256))
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = str(rng.choice(SPLICES)).encode(errors="surrogatepass") * int(rng.integers(1, 3))
        elif kind == 3:
            end = int(rng.integers(at, min(len(data), at + 64) + 1))
            data[at:at] = data[at:end] * int(rng.integers(1, 30))
        elif data:
            word = int(rng.choice([0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1])).to_bytes(8, "little")
            size = int(rng.choice([1, 2, 4, 8]))
            data[at : at + size] = word[:size]
    return bytes(data)


def _with_another_value(value: object, rng: np.random.Generator) -> object:
    """Return the same JSON with one value, or key, changed somewhere."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = keys[int(rng.integers(len(keys)))]
        if isinstance(value, dict) and rng.random() < 0.1:
            return {name: each for name, each in value.items() if name != key} | {str(rng.choice(SPLICES)): value[key]}
        changed = dict(value) if isinstance(value, dict) else list(value)
        changed[key] = _with_another_value(value[key], rng)
        return changed
    return VALUES[int(rng.integers(len(VALUES)))]


def child(name: str, seed: int, count: int) -> None:
    """Load `count` mutated files of a format; whatever goes wrong but a ValueError ends the process."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / f"{EVIL}.py").write_text("raise SystemExit('a file was able to import a module')\n")
        sys.path.insert(0, text)
        sample, load = FORMATS[name](folder)
        (folder / "file").write_bytes(sample)
        load(folder / "file")
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        faulthandler.register(signal.SIGALRM, chain=True)  # ends the process, with a traceback
        refused = 0
        for number in range(count):
            if number % BATCH == 0:
                rng = np.random.default_rng(seed + number)
            data = mutate(sample, rng)
            (folder / "file").write_bytes(data)
            signal.alarm(SECONDS)
            try:
                load(folder / "file")
            except ValueError:
                refused += 1
            except BaseException as error:
                raise SystemExit(
                    f"{name}, seed {seed}, file {number}: {type(error).__name__}: {error}\n{data[:300]!r}"
                ) from error
        signal.alarm(0)
        print(json.dumps({"format": name, "files": count, "refused": refused}))


def run(name: str, seed: int, count: int) -> dict[str, object]:
    """Run `child` in a process of its own, and return its counts."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.faults.foreign_files", "--child", name, "--seed", str(seed)]
    done = subprocess.run([*command, "--count", str(count)], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{name}, seed {seed}: the process ended with {done.returncode}\n{done.stderr[-2000:]}")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", choices=[[], *FORMATS])
    parser.add_argument("--count", type=int, default=BATCH)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child")
    given = parser.parse_args(words)
    if given.child:
        child(given.child, given.seed, given.count)
        return
    for name in given.formats or FORMATS:
        refused = 0
        for start in range(0, given.count, BATCH * BATCHES):
            found = run(name, given.seed + start, min(BATCH * BATCHES, given.count - start))
            refused += int(str(found["refused"]))
        print(f"{name}: {given.count:,} files, {refused:,} refused, the others load", flush=True)


if __name__ == "__main__":
    main()
