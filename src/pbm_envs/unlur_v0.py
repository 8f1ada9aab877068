"""Unlur: unequal goals on a hexagon, and a contract that makes them fair.

| | |
|---|---|
| Agents | `player_0`, `player_1`; who is Black is decided in the game |
| Make | `unlur_v0.env()`, `pettingzoo.make("aec", "pbm/unlur-v0")` |
| Many games | `unlur_v0.vector_env(1024)`, `gymnasium.make_vec("pbm/Unlur-v0", num_envs=1024)`: `pbm_envs.envs.vector` |
| One seat | `unlur_v0.single_env()`, `gymnasium.make("pbm/Unlur-v0", opponent="random")`: `pbm_envs.envs.single` |
| Actions | `Discrete(3r² - 3r + 2)`: 92 at radius 6 |
| Observation | `{"observation": (2r - 1, 2r - 1, 7) int8, "action_mask": (actions,) int8}` |
| Rewards | +1 win, -1 loss at the end, 0 before; no draws |
| Players | 2, perfect information |

## Rules

First both place black stones, not on the edges, until one says `black`: they are Black for the rest of the game, the
opponent White and to move. Then each places stones of their own colour anywhere. Black wins with a Y, a chain that
joins three alternate sides; White with a line, a chain that joins two opposite sides. Who completes only the other's
figure loses. The rules in full, with our rulings: `unlur/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `radius` | 6 | cells along a side, 3 to 13 (U1) |
| `allow_resign` | False | one more action, `resign` (A2) |

## Actions

| index | text | meaning |
|---|---|---|
| cell | `c4` | place a stone; row letter, column number; cells row by row from a1 |
| number of cells | `black` | end the contract phase as Black |
| last | `resign` | the opponent wins (with `allow_resign`) |

## Observation

Plane by plane, row i (A = 0) and column number c at `[i, c - 1]`; places off the hexagon are 0 in every plane:

| plane | meaning |
|---|---|
| `cell` | a cell of the hexagon |
| `black`, `white` | such a stone stands here |
| `edge` | a cell on a side |
| `contract` | nobody is Black yet |
| `I am Black`, `I am White` | the viewer's part |

`env.unwrapped.game.planes` is the same table for programs.

## Illegal actions, start positions, copies

See `pbm_envs.envs.aec`: `env` ends the game at -1 for the offender, `raw_env` raises ValueError and changes nothing.
`reset(options={"moves": ["c4", "black"]})` starts after these moves.

## Credits

Unlur was invented by Jorge Gómez Arrausi in 2001 and won the Unequal Forces Game Design Competition of Abstract Games
magazine. The rules follow the help page of the play-by-mail server, written by Lyman Hurd.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# options as in the table above, and the settings of the environment that each makes
raw_env = partial(factories.make_raw_env, "unlur")
env = partial(factories.make_aec_env, "unlur")
vector_env = partial(factories.make_vector_env, "unlur")
single_env = partial(factories.make_single_env, "unlur")
