"""How fast are recorded games exported as data sets?

    python benchmarks/export_speed.py [--positions 20000] [--rounds 3]

Random games of each default board are recorded, then exported to each format, records replayed by the rules included;
positions a minute of processor time (one thread does it all), the median of the rounds. `bytes` is how large a data set
is on the disk, a position. Minari's layout has eight HDF5 arrays an episode, however short.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from machine import machine
from pbm_agents.data import FORMATS, export_records, make_games

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur
from pbm_envs.records import GameRecord

GAMES: tuple[Game, ...] = (Chameleon(), Unlur(), Trinim(), Curio())


def recorded(game: Game, folder: Path, positions: int) -> list[GameRecord]:
    """Random games with about so many positions."""
    few = make_games(game, folder / "few", ("random",), 20)
    length = sum(record.plies for record in few) / len(few)
    return make_games(game, folder / "games", ("random",), max(1, round(positions / length)))


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=20_000, help="of each game, about")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(machine())
    print(f"load average before the run {os.getloadavg()[0]:.1f}\n")
    print(f"{'':12} {'positions':>9}  " + "  ".join(f"{to + ', a minute':>19} {'bytes':>6}" for to in FORMATS))
    for game in GAMES:
        place = Path(tempfile.mkdtemp())
        os.environ["MINARI_DATASETS_PATH"] = str(place / "minari")
        records = recorded(game, place, arguments.positions)
        count = sum(record.plies for record in records)
        cells = []
        for to in FORMATS:
            spent, out = [], place / to
            for k in range(arguments.rounds + 1):  # the first one compiles and imports
                shutil.rmtree(out, ignore_errors=True)
                name = f"pbm/{game.name}/speed{k}-v0" if to == "minari" else str(out)
                start = time.process_time()
                export_records(place / "games", name, to)
                spent.append(time.process_time() - start)
            bytes_each = size(out) / (arguments.rounds + 1 if to == "minari" else 1) / count
            cells.append(f"{60 * count / statistics.median(spent[1:]):19,.0f} {bytes_each:6,.0f}")
        print(f"{type(game).__name__:12} {count:9,}  " + "  ".join(cells), flush=True)
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
