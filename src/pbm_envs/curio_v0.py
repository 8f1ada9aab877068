"""Curio: pieces with two faces, of which each player sees only one.

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

Each army has one piece for every pair of numbers up to `base`. A player sees only the face of each piece that is turned
towards them, both of their own and of enemy pieces. A piece moves in a straight line, at most as many cells as the
number that its owner sees on it. It may capture an enemy piece if the number that the moving player sees there is less
than or equal to the number on their own piece. The capturing piece turns around, so both players have then seen both of
its sides. A player who captures the last enemy piece with the number `base` wins. The rules in full, with our rulings:
`curio/rules.md`.

## Options

| option | default | meaning |
|---|---|---|
| `base` | 4 | the greatest number on a piece, 2 to 9 |
| `rows`, `cols` | 5 | size of the board, 2 to 26 |
| `num_pieces` | one set | pieces of each army, a multiple of base(base + 1)/2 |
| `turn` | True | a piece that captures turns around (C8) |
| `limit` | True | a piece moves at most as many cells as the number that its owner sees (C6) |
| `face` | `"large"` | the number that faces the owner at the start: `"large"`, `"small"` or `"random"` (C5) |
| `capture` | `"le"` | how the enemy's number must compare with the mover's: `"lt"`, `"le"`, `"gt"`, `"ge"` or `"any"`; `"lt_total"`, ... compare the sums of both faces (C7) |
| `reveal_captured` | True | both players see both faces of a captured piece (C9) |
| `no_capture_limit` | 100 | plies without a capture until the game is truncated, or None (C13) |
| `allow_resign` | False | adds the action `resign` (A2) |

Under `*_total`, the legal moves, and so the action mask, tell the mover something about hidden faces.

## Actions

| index | text | meaning |
|---|---|---|
| 0 ... | `d2-b4` | a move between two cells on a line, of at most `base` cells with `limit`: by origin (a1, b1, ...), then direction (up left, up, up right, left, right, down left, down, down right, as Light sees it), then distance |
| then | `pass` | legal only if no piece can move (C12) |
| last | `resign` | the opponent wins (with `allow_resign`) |

## Observation

The cell in row r and column c (a is 0) is at `[r - 1, c]`, for both players. The last axis has these planes:

| plane | meaning |
|---|---|
| `mine`, `enemy` | the owner of the piece on the cell |
| `shows 1` ... | the number that faces the viewer |
| `may hide 1` ... | the numbers that the other face can still have, by all that C15 lets the viewer infer (sets in play, known and captured pieces, orientation at the start, distances moved, captures); exactly one if the face is known |
| `known` | both players know both faces |
| `I am Light`, `I am Dark`, `my turn` | the viewer's side, and whether they move next |
| `quiet`, `passed` | plies since the last capture (at most 127), and whether the last ply was a pass |
| `my 11 unseen` ..., `enemy 11 unseen` ... | how many pieces of each kind are not known to both players |

Programs find this table in `env.unwrapped.game.planes`.

## What is hidden

Observations, masks and pictures are computed from `game.view(states, player)`, in which hidden faces are blank.
`env.unwrapped.states` and `env.state()` are the full state, for referees and not for agents.
`game.determinize(views, rng)` draws a full state uniformly from all that are consistent with a view.

## Illegal actions, start positions, copies

After an illegal action, `env` ends the game with -1 for the player who chose it, and `raw_env` raises ValueError and
changes nothing: `pbm_envs.envs.aec`.
`reset(options={"board": text})` starts from a board: rows from the top, with "/" between rows and blanks between cells.
A cell is "." or an owner, the face towards Light and the face towards Dark, such as `L41`. Its pieces are then the sets
in play. A piece that contradicts `face` must have captured, so it counts as known to both. If C11 holds already, the
game is over before it starts.

## Credits

Rules by Stephen Tavener and Cameron Browne, © Cyberite Ltd 2008. They follow the help page of the play-by-mail server,
written by Cameron Browne.

## Version history

* v0: first version.
"""

from __future__ import annotations

from functools import partial

from .envs import factories

# Each takes the options of the table above, and the settings of the environment that it makes.
raw_env = partial(factories.make_raw_env, "curio")
env = partial(factories.make_aec_env, "curio")
vector_env = partial(factories.make_vector_env, "curio")
single_env = partial(factories.make_single_env, "curio")
