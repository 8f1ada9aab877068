"""Chameleon: a game like Hex in which both players may place either letter.

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

Vert owns the top and bottom edges, Horz the left and right edges. Each ply places an x or an o on an empty cell. A
chain of one letter that connects a player's two edges wins for that player, no matter who placed its stones. If a move
completes chains for both players, the player who made it wins. On the second ply, a player may say `swap` instead,
which exchanges the players' sides. The rules in full, with our rulings: `chameleon/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `size` | 11 | cells per side, 3 to 26 (H1) |
| `swap_rule` | True | `swap` is legal on the second ply (H4) |
| `allow_resign` | False | adds the action `resign` (A2) |

## Actions

| index | text | meaning |
|---|---|---|
| `2 * cell` | `f4x` | place an x; cells are numbered row by row from a1: f4 is `3 * size + 5` |
| `2 * cell + 1` | `f4o` | place an o |
| `2 * size²` | `swap` | exchange sides (with `swap_rule`) |
| last | `resign` | the opponent wins (with `allow_resign`) |

## Observation

The cell in row `row` and column `col` of the board is at `[row, col]`, for both players. The last axis has these
planes:

| plane | meaning |
|---|---|
| `x`, `o` | the letter on the cell |
| `I join top and bottom`, `I join left and right` | the viewer's edges |
| `swap is open` | the next ply may be `swap` |

Programs find this table in `env.unwrapped.game.planes`.

## Illegal actions, start positions, copies

After an illegal action, `env` ends the game with -1 for the player who chose it, and `raw_env` raises ValueError and
changes nothing: `pbm_envs.envs.aec`.
`reset(options={"moves": ["a1x", "swap"]})` starts after these moves.

## Credits

Chameleon was discovered by Randy Cox and, independently, by Bill Taylor in November 2003. The rules follow the help
page of the play-by-mail server, written by Cameron Browne.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# Each takes the options of the table above, and the settings of the environment that it makes.
raw_env = partial(factories.make_raw_env, "chameleon")
env = partial(factories.make_aec_env, "chameleon")
vector_env = partial(factories.make_vector_env, "chameleon")
single_env = partial(factories.make_single_env, "chameleon")
