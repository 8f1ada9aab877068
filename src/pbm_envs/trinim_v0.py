"""Trinim: a game like Nim on a triangle of coloured pieces, for two or three players.

| | |
|---|---|
| Agents | `player_0`, `player_1` (, `player_2`) |
| Make | `trinim_v0.env()`, `pettingzoo.make("aec", "pbm/trinim-v0")` |
| Many games | `trinim_v0.vector_env(1024)`, `gymnasium.make_vec("pbm/Trinim-v0", num_envs=1024)`: `pbm_envs.envs.vector` |
| One seat | `trinim_v0.single_env()`, `gymnasium.make("pbm/Trinim-v0", opponent="random")`: `pbm_envs.envs.single` |
| Actions | `Discrete(75)` at size 5: 15 cells and 60 lines |
| Observation | `{"observation": (size, size, 4 + 8 * players) int8, "action_mask": (actions,) int8}` |
| Rewards | two players: +1 win, -1 loss, 0 draw; three: +1 win, -1/2 loss, 0 draw; 0 before the end |
| Players | 2 or 3, perfect information; the set-up is random |

## Rules

Players take turns to grab one piece or a straight line of adjacent pieces, until the board is empty. A player scores
one point for each colour of which they hold an even number of pieces; zero is even. The highest score wins, and equal
best scores draw. The rules in full, with our rulings: `trinim/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `size` | 5 | rows, 3 to 20; the number of cells must be divisible by three (T1) |
| `num_players` | 2 | 2 or 3 |
| `allow_resign` | False | adds the action `resign` (A2) |

With two players, only sizes 5, 6, 9, 14, 17 and 18 have a winner; every game of another size is a draw, and making it
gives a warning (T7).

## Actions

| index | text | meaning |
|---|---|---|
| 0 to n - 1 | `C3` | grab the piece on a cell; cells are numbered row by row from the top |
| then | `D4-D2` | grab a line, named from its lower end or, in a row, from its left end: first the lines along rows, then up columns, then up along "/"; in each direction by first cell, then by length |
| last | `resign` | leave the game (with `allow_resign`) |

## Observation

The cell in row r and column c (A is 0) is at `[r - 1, c]`. Places off the triangle are 0 in every plane. The last axis
has these planes:

| plane | meaning |
|---|---|
| `cell` | a cell of the triangle |
| `red`, `green`, `blue` | the colour of the piece on the cell |
| `red held by me` ... | the number of pieces held, for each colour and player; the viewer is the first player |
| `odd red held by me` ... | 1 if that number is odd, so that the colour does not score |
| `turn of me` ..., `out: me` ... | 1 for the player to move, and for players who have resigned |

Programs find this table in `env.unwrapped.game.planes`.

## Resignation with three players

An agent that resigns is terminated at once with -1/2 and takes PettingZoo's dead step (`step(None)`). The other two
continue the game.

## Illegal actions, start positions, copies

After an illegal action, `env` ends the game with -1 for the player who chose it, and `raw_env` raises ValueError and
changes nothing: `pbm_envs.envs.aec`.
`reset(options={"board": "b/bb/bgr/grgg/rbgrr"})` starts from a board: rows from the top, with "." for an empty cell.

## Credits

Rules by Joan Josep. They follow the help page of the play-by-mail server, written by Cameron Browne in April 2005.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# Each takes the options of the table above, and the settings of the environment that it makes.
raw_env = partial(factories.make_raw_env, "trinim")
env = partial(factories.make_aec_env, "trinim")
vector_env = partial(factories.make_vector_env, "trinim")
single_env = partial(factories.make_single_env, "trinim")
