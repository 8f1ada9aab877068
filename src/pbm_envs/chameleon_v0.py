"""Chameleon: Hex in which both players may place either letter.

| | |
|---|---|
| Agents | `player_0` (Vert at the start), `player_1` (Horz) |
| Make | `chameleon_v0.env()`, `pettingzoo.make("aec", "pbm/chameleon-v0")` |
| Many games | `chameleon_v0.vector_env(1024)`, `gymnasium.make_vec("pbm/Chameleon-v0", num_envs=1024)`: `pbm_envs.envs.vector` |
| One seat | `chameleon_v0.single_env()`, `gymnasium.make("pbm/Chameleon-v0", opponent="random")`: `pbm_envs.envs.single` |
| Actions | `Discrete(2 * size² + 1)`: 243 on 11×11 |
| Observation | `{"observation": (size, size, 5) int8, "action_mask": (actions,) int8}` |
| Rewards | +1 win, -1 loss at the end, 0 before; no draws |
| Players | 2, perfect information |

## Rules

Vert owns top and bottom, Horz left and right. Each ply places an x or an o on an empty cell. A chain of one letter that
joins a player's two edges wins for that player, whoever placed its stones; if one move completes chains for both, the
mover wins. At the second ply `swap` exchanges the players' sides instead. The rules in full, with our rulings:
`chameleon/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `size` | 11 | cells a side, 3 to 26 (H1) |
| `swap_rule` | True | `swap` is legal at the second ply (H4) |
| `allow_resign` | False | one more action, `resign` (A2) |

## Actions

| index | text | meaning |
|---|---|---|
| `2 * cell` | `f4x` | place x; cells row by row from a1: f4 is `3 * size + 5` |
| `2 * cell + 1` | `f4o` | place o |
| `2 * size²` | `swap` | exchange sides (with `swap_rule`) |
| last | `resign` | the opponent wins (with `allow_resign`) |

## Observation

Plane by plane, cell (row, col) of the board at `[row, col]`; from the viewer's seat, board not turned:

| plane | meaning |
|---|---|
| `x`, `o` | such a stone stands here |
| `I join top and bottom`, `I join left and right` | which side the viewer has |
| `swap is open` | the next ply may be `swap` |

`env.unwrapped.game.planes` is the same table for programs.

## Illegal actions, start positions, copies

See `pbm_envs.envs.aec`: `env` ends the game at -1 for the offender, `raw_env` raises ValueError and changes nothing.
`reset(options={"moves": ["a1x", "swap"]})` starts after these moves.

## Credits

Chameleon was found by Randy Cox and, independently, by Bill Taylor in November 2003. The rules follow the help page of
the play-by-mail server, written by Cameron Browne.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# options as in the table above, and the settings of the environment that each makes
raw_env = partial(factories.make_raw_env, "chameleon")
env = partial(factories.make_aec_env, "chameleon")
vector_env = partial(factories.make_vector_env, "chameleon")
single_env = partial(factories.make_single_env, "chameleon")
