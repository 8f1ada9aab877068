"""Curio: pieces with two faces, of which each player sees one.

| | |
|---|---|
| Agents | `player_0` (Light), `player_1` (Dark) |
| Make | `curio_v0.env()`, `pettingzoo.make("aec", "pbm/curio-v0")` |
| Many games | `curio_v0.vector_env(1024)`, `gymnasium.make_vec("pbm/Curio-v0", num_envs=1024)`: `pbm_envs.envs.vector` |
| One seat | `curio_v0.single_env()`, `gymnasium.make("pbm/Curio-v0", opponent="random")`: `pbm_envs.envs.single` |
| Actions | `Discrete(321)` by default: 320 moves and `pass` |
| Observation | `{"observation": (rows, cols, 8 + 2 * base + base(base + 1)) int8, "action_mask": (actions,) int8}` |
| Rewards | +1 win, -1 loss at the end, 0 for a draw and before |
| Players | 2, hidden information; the set-up is random |

## Rules

Each army has one piece for every pair of numbers up to `base`. Of every piece, friend or enemy, a player sees only the
face towards themselves. A piece moves in a straight line, at most as far as its owner's number on it, and may end on an
enemy piece whose number, as the mover sees it, is less than or equal to its own: that captures, and the capturing piece
turns around, so that both have then seen both its sides. Who captures the last enemy piece with the number `base` wins.
The rules in full, with our rulings: `curio/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `base` | 4 | numbers 1 to base, 2 to 9 |
| `rows`, `cols` | 5 | size of the board, 2 to 26 |
| `num_pieces` | one set | pieces a side, a multiple of base(base + 1)/2 |
| `turn` | True | a piece that captures turns around (C8) |
| `limit` | True | a piece goes at most as far as its owner's number (C6) |
| `face` | `"large"` | which number looks at the owner: `"large"`, `"small"`, `"random"` (C5) |
| `capture` | `"le"` | the enemy's number must be `"lt"`, `"le"`, `"gt"` or `"ge"` the mover's; `"any"`; with `_total` sums of both faces (C7) |
| `reveal_captured` | True | both players see a captured piece from both sides (C9) |
| `no_capture_limit` | 100 | plies without a capture until the game is truncated, or None (C13) |
| `allow_resign` | False | one more action, `resign` (A2) |

Under `*_total` the legal moves, and so the action mask, tell the mover something about hidden faces. That is the nature
of the variant.

## Actions

| index | text | meaning |
|---|---|---|
| 0 ... | `d2-b4` | every two cells on a line, within `base` steps under `limit`: by origin (a1, b1, ...), by direction (up left, up, up right, left, right, down left, down, down right, as Light sees it), by distance |
| then | `pass` | legal only if there is no move (C12) |
| last | `resign` | the opponent wins (with `allow_resign`) |

## Observation

Plane by plane, column c and row r at `[r - 1, c]`, as Light sees the board, for both players:

| plane | meaning |
|---|---|
| `mine`, `enemy` | whose piece stands here |
| `shows 1` ... | the number towards the viewer |
| `may hide 1` ... | what the other face can still be, by all that C15 lets the viewer infer (sets in play, known and captured pieces, opening orientation, distances moved, captures); exactly one if known |
| `known` | both players know both faces |
| `I am Light`, `I am Dark`, `my turn` | the viewer |
| `quiet`, `passed` | plies since the last capture (at most 127), whether the last ply was a pass |
| `my 11 unseen` ..., `enemy 11 unseen` ... | how many pieces of each kind are not known to both |

`env.unwrapped.game.planes` is the same table for programs.

## What is hidden

Observation, mask and picture are computed from `game.view(states, player)`, in which hidden faces are blank.
`env.unwrapped.states` and `env.state()` are the full state: for referees, not for agents. `game.determinize(views, rng)`
draws a full state uniformly from those that fit a view.

## Illegal actions, start positions, copies

See `pbm_envs.envs.aec`: `env` ends the game at -1 for the offender, `raw_env` raises ValueError and changes nothing.
`reset(options={"board": text})` starts from a board: rows from the top, separated by "/", cells by blanks, "." or owner,
face towards Light, face towards Dark, such as `L41`; its pieces are then the sets in play. A piece that stands against
`face` counts as having captured: it is known to both. If C11 holds already, the game is over before it starts.

## Credits

Rules by Stephen Tavener and Cameron Browne, © Cyberite Ltd 2008. They follow the help page of the play-by-mail server,
written by Cameron Browne.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# options as in the table above, and the settings of the environment that each makes
raw_env = partial(factories.make_raw_env, "curio")
env = partial(factories.make_aec_env, "curio")
vector_env = partial(factories.make_vector_env, "curio")
single_env = partial(factories.make_single_env, "curio")
