"""How should kernels see the records of a game? Seconds to compile, and speed, of designs side by side.

pip install -e ".[bench]" && python benchmarks/cold_start.py

Each design runs in a process of its own with an empty cache, and they are timed in turns. Compiling is given in seconds
of the processor, for what the first ply of a game needs (view, observation, mask, step): of a first board and of a
second one of another size. Speeds are medians of the turns' ratios to the first design, and its nanoseconds a game.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

TURNS, SECONDS_A_TURN = 30, 0.002
DESIGNS = {
    "types by size": "Numba's type for structured arrays, which says how long each field is (before)",
    "capacity": "the same, with fields for 32, 64, 128, ... cells, so that few types are enough",
    "fields": "an array for each field of the batch, instead of records (Chameleon's step only)",
    "layout": "one type for all sizes: lengths are read when the kernel runs (chosen)",
    "layout, -O0": "the same as the layout, without optimization by LLVM",
}
BOARDS: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "chameleon": ({"size": 11}, {"size": 9}),
}


def states_by_fields(game: Any, states: Any, actions: Any) -> Callable[[], Any]:
    """Chameleon's step on an array for each field."""
    from pbm_envs.core.kernels import kernel
    from pbm_envs.games.chains import join
    from pbm_envs.games.chameleon.rules import X, winner_of

    @kernel
    def step(
        stones: Any,
        chain: Any,
        touches: Any,
        mover: Any,
        vert: Any,
        ply: Any,
        done: Any,
        viewer: Any,
        last: Any,
        returns: Any,
        actions: Any,
        around: Any,
        edges: Any,
    ) -> int:
        for i in range(len(actions)):
            if not done[i] and (viewer[i] != -1 or stones[i, actions[i] >> 1] != 0):
                return i
        for i in range(len(actions)):
            if not done[i]:
                cell, mark = actions[i] >> 1, X + (actions[i] & 1)
                touched = join(stones[i], chain[i], touches[i], cell, mark, around, edges)
                winner = winner_of(touched, mover[i], vert[i])
                ply[i] += 1
                mover[i] = 1 - mover[i]
                last[i] = actions[i]
                if winner != -1:
                    returns[i, winner], returns[i, 1 - winner], done[i] = 1, -1, True
        return -1

    names = ("stones", "chain", "touches", "to_move", "vert", "ply", "done", "viewer", "last_action", "returns")
    return lambda: step(*(states[name] for name in names), actions, game._around, game.board.edges)


def with_capacity(game: Any) -> Any:
    """Fields for at least 32 cells, and then for a power of two."""
    from pbm_envs.games.chameleon.rules import chameleon_dtype

    cells = max(32, 1 << (game.board.size - 1).bit_length())
    return chameleon_dtype(cells)


def widened(states: Any, dtype: Any) -> Any:
    """The same states with longer fields; there are no stones beyond the board."""
    wide = np.zeros(len(states), dtype)
    for name in dtype.names:
        given = states[name]
        wide[name][tuple(slice(length) for length in given.shape)] = given
    return wide


def jobs(design: str, name: str, options: dict[str, int]) -> dict[str, Callable[[], Any]]:
    """What is timed, for 1 and 1,024 games some plies after the start."""
    import pbm_envs
    from pbm_envs.core import layouts
    from pbm_envs.core.state import copy_batch

    found: dict[str, Callable[[], Any]] = {}
    game: Any = pbm_envs.make_game(name, **options)
    for count in (1, 1024):
        states = plies(name, options, count)
        if design == "capacity":
            states = widened(states, with_capacity(game))
        if design in ("types by size", "capacity"):
            layouts._types.pop(states.dtype, None)
        masks = np.zeros((count, 2 * len(states["stones"][0]) + 2), "?")
        views, before, playing = states.copy(), states.view(f"V{states.itemsize}"), states.copy()
        planes = np.zeros((count, *game.observation_shape), np.int8)
        room = np.zeros((count, 40, *game.observation_shape[1:]), np.int8) if design == "capacity" else planes
        game._legal_action_mask(states, masks)
        actions = masks[:, : 2 * game.board.size].argmax(axis=1)
        step = lambda playing=playing, actions=actions: game._step(playing, actions)  # noqa: E731
        if design == "fields":
            step = states_by_fields(game, playing, actions)

        def restore_and_step(step: Any = step, playing: Any = playing, before: Any = before) -> None:
            playing.view(before.dtype)[:] = before
            step()

        found[f"step {count}"] = restore_and_step
        if design != "fields":
            found[f"mask {count}"] = lambda s=states, m=masks: game._legal_action_mask(s, m)
            found[f"observe {count}"] = lambda s=states, o=room: game._observe(s, o)
            found[f"view {count}"] = lambda s=states, v=views: copy_batch(s, v)
    return found


def plies(name: str, options: dict[str, int], count: int) -> Any:
    """Games after 4 plies, played by another process, so that nothing is compiled here."""
    program = (
        "import sys, numpy as np, pbm_envs\n"
        f"game, rng = pbm_envs.make_game({name!r}, **{options!r}), np.random.default_rng(1)\n"
        f"states = game.init({count}, rng)\n"
        "for _ in range(4):\n"
        "    game.step(states, pbm_envs.core.randomness.sample_actions(game.legal_action_mask(states), rng))\n"
        "sys.stdout.buffer.write(states.tobytes())"
    )
    import pbm_envs

    environment = {key: value for key, value in os.environ.items() if key not in ("PBM_ENVS_CACHE_DIR", "NUMBA_OPT")}
    written = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True).stdout
    return np.frombuffer(written, pbm_envs.make_game(name, **options).dtype).copy()


def work(design: str, name: str) -> None:
    """A process that compiles and times as it is told, by lines of text."""
    ready: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        if line.startswith("compile"):
            made = jobs(design, name, BOARDS[name][int(line.split()[1])])
            ready = ready or made
            start = time.process_time()
            for key, job in made.items():
                if key.endswith(" 1"):
                    job()
            print(time.process_time() - start, flush=True)
        else:
            key, repeats = line.strip().split("|")
            if key not in ready:
                print("null", flush=True)
                continue
            start = time.perf_counter()
            for _ in range(int(repeats)):
                ready[key]()
            print(time.perf_counter() - start, flush=True)


class Worker:
    """A process for a design."""

    def __init__(self, design: str, name: str, cache: str) -> None:
        environment = os.environ | {"PBM_ENVS_CACHE_DIR": cache}
        if design == "layout, -O0":
            environment["NUMBA_OPT"] = "0"
        self.process = subprocess.Popen(
            [sys.executable, __file__, design, name],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, line: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def compare(name: str) -> None:
    keys = [f"{what} {count}" for count in (1, 1024) for what in ("view", "observe", "mask", "step")]
    designs = list(DESIGNS)
    with tempfile.TemporaryDirectory() as folder:
        workers = {d: Worker(d, name, os.path.join(folder, str(k))) for k, d in enumerate(designs)}
        seconds = {design: [worker.ask(f"compile {k}") for k in (0, 1)] for design, worker in workers.items()}
        took: dict[str, dict[str, list[float]]] = {key: {design: [] for design in designs} for key in keys}
        for key in keys:
            repeats = {}
            for design, worker in workers.items():
                if worker.ask(f"{key}|3") is not None:
                    repeats[design] = max(1, int(SECONDS_A_TURN * 3 / worker.ask(f"{key}|3")))
            for turn in range(TURNS):
                for design in designs if turn % 2 else designs[::-1]:
                    if design in repeats:
                        spent = workers[design].ask(f"{key}|{repeats[design]}")
                        took[key][design].append(spent / repeats[design])
        for worker in workers.values():
            worker.process.stdin.close()  # type: ignore[union-attr]
            worker.process.wait()
    print(f"\n{name}: compiling (s), first and second size; then times the first design's, at 1 and at 1,024 games")
    print(f"{'':18} {'first':>6} {'second':>6} " + " ".join(f"{key:>12}" for key in keys))
    base = {key: min(took[key][designs[0]]) / int(key.split()[1]) * 1e9 for key in keys}
    print(f"{'(ns a game)':32} " + " ".join(f"{base[key]:12.0f}" for key in keys))
    for design in designs:
        ratios = [
            f"{statistics.median(a / b for a, b in zip(took[key][design], took[key][designs[0]], strict=True)):12.2f}"
            if took[key][design]
            else f"{'':>12}"
            for key in keys
        ]
        print(f"{design:18} {seconds[design][0]:6.1f} {seconds[design][1]:6.1f} " + " ".join(ratios), flush=True)


def main() -> None:
    from machine import machine

    print(machine())
    print("\n" + "\n".join(f"{design:16} {meaning}" for design, meaning in DESIGNS.items()))
    for name in BOARDS:
        compare(name)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        work(*sys.argv[1:])
    else:
        main()
