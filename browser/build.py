"""Compile the kernels of the games to WebAssembly, with a description of each board for `game.mjs`.

    pip install -e ".[wasm]" && python browser/build.py [GAME ...]        # or `make wasm`

No rule is written again: Numba compiles each kernel for this processor, and its LLVM code gets another target. Which
kernels a game calls, and with which tables, is found by calling the game's methods and recording the calls. In
`build/wasm`, `GAME.wasm` contains the kernels for all boards of a game, `GAME.json` the tables and names of each.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
import warnings
from typing import Any

from kernels import Module  # sets what Numba compiles for, before Numba is imported

import numpy as np
from boards import BOARDS, OUT, searches
from champions import SIMULATIONS, champion_of, search_of
from table import code, facts_of_board, facts_of_game, fonts
from pbm_agents.champions import ChampionAgent
from pbm_agents.exact import KnownWorldAgent
from pbm_agents.search import Search

from pbm_envs import Game, make_game


def describe(module: Module, game: Game, options: dict[str, Any]) -> dict[str, Any]:
    """Compile the kernels of a game, and return what JavaScript has to know about it."""
    fields = {name: [kind[1], kind[0].base.str[1:], kind[0].shape] for name, kind in (game.dtype.fields or {}).items()}
    board = game.board
    return {
        "options": options,
        "text": repr(game),
        "players": game.num_players,
        "actions": [game.action_to_string(action) for action in range(game.num_actions)],
        "action_cells": [game.action_cells(action) for action in range(game.num_actions)],
        "resign": game.resign_action,
        "cells": board.names,
        "places": [board.rows.tolist(), board.cols.tolist()],
        "shape": board.shape,
        "planes": list(map(str, game.planes)),
        "observation": game.observation_shape,
        "itemsize": game.dtype.itemsize,
        "fields": fields,
        "hooks": hooks_of(module, game),
        "searches": searches_of(module, game),
        "champion": champion_of(module, game),
        "table": facts_of_board(game),
    }


def searches_of(module: Module, game: Game) -> dict[str, Any]:
    """Return the searches of a game; `known` searches full states of a game with hidden information."""
    found = {kind: search_of(module, game, search) for kind, search in searches(game, SIMULATIONS[0]).items()}
    if isinstance(ChampionAgent(simulations=1).player(game), KnownWorldAgent):
        found["known"] = search_of(module, game, Search(simulations=SIMULATIONS[0]), known=True)
    return found


def hooks_of(module: Module, game: Game) -> dict[str, Any]:
    """Return the calls of kernels that make up each method of a game, for batches."""
    rng = np.random.default_rng(0)
    seeds, blank = rng.bit_generator.random_raw(1), np.zeros(1, game.dtype)
    blank["viewer"] = blank["last_action"] = -1
    begun = blank.view(np.uint8).copy().view(game.dtype)  # not `copy`, which leaves the padding between fields
    board = None if game.random_setup else game.board_to_string(game.init(1, rng))
    started = {"states": begun, "seeds": seeds}
    hooks: dict[str, Any] = {"init": module.calls_of(game, lambda *given: game._init(*given, board), **started)}
    if not hooks["init"]:
        blank = begun  # all games start alike
    states = game.init(1, rng)
    views, mask = game.view(states, 0), game.legal_action_mask(states)
    planes, actions = np.empty((1, *game.observation_shape), np.int8), np.array([mask[0].argmax()])
    unused = np.zeros((0, 0), np.int8)
    hooks["step"] = module.calls_of(game, game._step, states=states.copy(), actions=actions)
    hooks["mask"] = module.calls_of(game, game._legal_action_mask, states=states, out=mask)
    hooks["view"] = module.calls_of(game, game._view, states=states, views=views)
    hooks["observe"] = module.calls_of(game, game._observe, views=views, out=planes)
    played = {"states": states.copy(), "seeds": seeds}
    hooks["playout"] = module.calls_of(game, lambda *given: game._playout(*given, unused, False), **played)
    play = game._play_kernels(False, False)
    assert play is not None
    if play.world is not None:
        given = {"views": views, "seeds": seeds, "good": np.zeros(1, np.bool_)}
        hooks["world"] = [module.call(play.world.kernel, (*given.values(), *play.world.arguments), given)]
    hooks["others"] = {}
    text = game.board_to_string(game.init(1, rng))
    for change in (lambda states: game._init(states, seeds, text), game._remove_player):
        calls = module.calls_of(game, change, states=states.copy())
        hooks["others"] |= {name.rpartition("_")[0]: [[name, arguments]] for name, arguments in calls}
    return {"blank": module.constant(blank), **hooks}


def main(names: list[str]) -> None:
    """Build the modules of these games, by default of all."""
    OUT.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # boards of Trinim on which every game is a draw
    (OUT / "code.mjs").write_text(code(), encoding="utf-8")
    (OUT / "letters.json").write_text(json.dumps(fonts(), separators=(",", ":")), encoding="utf-8")
    for name in names or BOARDS:
        module = Module()
        boards = [describe(module, make_game(name, **options), options) for options in BOARDS[name]]
        module.link(OUT / f"{name}.wasm")
        data = base64.b64encode(gzip.compress(bytes(module.data), mtime=0)).decode()
        written = {"game": name, "boards": boards, "arrays": module.arrays, "data": data, "table": facts_of_game(name)}
        (OUT / f"{name}.json").write_text(json.dumps(written, separators=(",", ":")), encoding="utf-8")
        sizes = [f"{(OUT / f'{name}.{kind}').stat().st_size:,} bytes of {kind}" for kind in ("wasm", "json")]
        print(f"{name}: {len(module.functions)} kernels, {len(boards)} boards, {', '.join(sizes)}")


if __name__ == "__main__":
    main(sys.argv[1:])
