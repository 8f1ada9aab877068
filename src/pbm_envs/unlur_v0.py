"""Unlur: unequal goals on a hexagon, and a contract that makes them fair.

| | |
|---|---|
| Agents | `player_0`, `player_1`; the game decides which of them is Black |
| Make | `unlur_v0.env()`, `pettingzoo.make("aec", "pbm/unlur-v0")` |
| Many games | `unlur_v0.vector_env(1024)`, `gymnasium.make_vec("pbm/Unlur-v0", num_envs=1024)`: `pbm_envs.envs.vector` |
| One seat | `unlur_v0.single_env()`, `gymnasium.make("pbm/Unlur-v0", opponent="random")`: `pbm_envs.envs.single` |
| Actions | `Discrete(3r² - 3r + 2)`: 92 at radius 6 |
| Observation | `{"observation": (2r - 1, 2r - 1, 7) int8, "action_mask": (actions,) int8}` |
| Rewards | +1 win, -1 loss at the end, 0 before; no draws |
| Players | 2, perfect information |

## Rules

In the contract phase, both players place black stones, but not on the sides, until one of them says `black`. That
player is Black for the rest of the game, and the opponent is White and moves next. Then each player places stones of
their own colour on any empty cell. Black wins with a Y, a chain that connects three alternate sides; White wins with a
line, a chain that connects two opposite sides. A player who completes only the opponent's figure loses. The rules in
full, with our rulings: `unlur/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `radius` | 6 | cells along each side, 3 to 13 (U1) |
| `allow_resign` | False | adds the action `resign` (A2) |

## Actions

| index | text | meaning |
|---|---|---|
| cell | `c4` | place a stone on row c, column 4; cells are numbered row by row from a1 |
| number of cells | `black` | end the contract phase and play Black |
| last | `resign` | the opponent wins (with `allow_resign`) |

## Observation

The cell in row i (A is 0) and column c is at `[i, c - 1]`. Places off the hexagon are 0 in every plane. The last axis
has these planes:

| plane | meaning |
|---|---|
| `cell` | a cell of the hexagon |
| `black`, `white` | the colour of the stone on the cell |
| `edge` | a cell on a side |
| `contract` | neither player is Black yet |
| `I am Black`, `I am White` | the viewer's colour |

Programs find this table in `env.unwrapped.game.planes`.

## Illegal actions, start positions, copies

After an illegal action, `env` ends the game with -1 for the player who chose it, and `raw_env` raises ValueError and
changes nothing: `pbm_envs.envs.aec`.
`reset(options={"moves": ["c4", "black"]})` starts after these moves.

## Credits

Unlur was invented by Jorge Gómez Arrausi in 2001 and won the Unequal Forces Game Design Competition of Abstract Games
Magazine. The rules follow the help page of the play-by-mail server, written by Lyman Hurd.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# Each takes the options of the table above, and the settings of the environment that it makes.
raw_env = partial(factories.make_raw_env, "unlur")
env = partial(factories.make_aec_env, "unlur")
vector_env = partial(factories.make_vector_env, "unlur")
single_env = partial(factories.make_single_env, "unlur")
