"""Trinim: Nim on a triangle of coloured pieces, for two or three players.

| | |
|---|---|
| Agents | `player_0`, `player_1` (, `player_2`) |
| Make | `trinim_v0.env()`, `pettingzoo.make("aec", "pbm/trinim-v0")` |
| Many games | `trinim_v0.vector_env(1024)`, `gymnasium.make_vec("pbm/Trinim-v0", num_envs=1024)`: `pbm_envs.envs.vector` |
| One seat | `trinim_v0.single_env()`, `gymnasium.make("pbm/Trinim-v0", opponent="random")`: `pbm_envs.envs.single` |
| Actions | `Discrete(75)` at size 5: 15 cells and 60 lines |
| Observation | `{"observation": (size, size, 4 + 8 * players) int8, "action_mask": (actions,) int8}` |
| Rewards | two players: +1, -1, draw 0; three: winner +1, the others -1/2, draw 0; 0 before the end |
| Players | 2 or 3, perfect information; the set-up is random |

## Rules

Players in turn grab one piece or a straight line of neighbouring pieces, until the board is empty. A player scores a
point for each colour of which they hold an even number, none included. The highest score wins; equal best scores draw.
The rules in full, with our rulings: `trinim/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `size` | 5 | rows, 3 to 20, so that the cells divide by three (T1) |
| `num_players` | 2 | 2 or 3 |
| `allow_resign` | False | one more action, `resign` (A2) |

With two players only the sizes 5, 6, 9, 14, 17 and 18 can be decided; the others warn (T7).

## Actions

| index | text | meaning |
|---|---|---|
| 0 to n - 1 | `C3` | grab the piece on a cell; cells row by row from the top |
| then | `D4-D2` | grab a line, from its lower end, or its left end within a row: all lines along rows, then up columns, then up along "/"; each by first cell, then by length |
| last | `resign` | leave the game (with `allow_resign`) |

## Observation

Plane by plane, row r and column c (A = 0) at `[r - 1, c]`; cells off the triangle are 0 in every plane:

| plane | meaning |
|---|---|
| `cell` | a cell of the triangle |
| `red`, `green`, `blue` | such a piece lies here |
| `red held by me` ... | how many; for each colour and each player, counted from the viewer |
| `odd red held by me` ... | 1 if that number is odd, so that the colour does not score |
| `turn of me` ..., `out: me` ... | whose turn it is, who has resigned |

`env.unwrapped.game.planes` is the same table for programs.

## Resignation with three players

The resigned agent is terminated at once with -1/2 and takes PettingZoo's dead step (`step(None)`); then the game goes on
between the other two.

## Illegal actions, start positions, copies

See `pbm_envs.envs.aec`: `env` ends the game at -1 for the offender, `raw_env` raises ValueError and changes nothing.
`reset(options={"board": "b/bb/bgr/grgg/rbgrr"})` starts from a board, rows from the top, "." for an empty cell.

## Credits

Rules by Joan Josep. They follow the help page of the play-by-mail server, written by Cameron Browne, April 2005.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# options as in the table above, and the settings of the environment that each makes
raw_env = partial(factories.make_raw_env, "trinim")
env = partial(factories.make_aec_env, "trinim")
vector_env = partial(factories.make_vector_env, "trinim")
single_env = partial(factories.make_single_env, "trinim")
