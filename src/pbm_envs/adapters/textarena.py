"""Every registered game as an environment of TextArena, registered on import (extra `textarena`).

    import textarena as ta
    import pbm_envs.adapters.textarena
    env = ta.make("PbmCurio-v0")          # PbmTrinim-v0, ...; "-raw" without TextArena's wrapper; options as keywords
    env.reset(num_players=2, seed=7)
    player, text = env.get_observation()
    done, info = env.step("I take it: [a2-a3]")
    rewards, game_info = env.close()

As in TextArena's own games, the rules come first, each move is described to everybody, the player to move sees the
board, and `error_allowance` (1) bad answers in one turn are corrected before the next one loses. Unlike there, an
answer is sent only to its player, since it may reveal hidden information; moves and boards are described as each player
sees them; and an answer may also be JSON (`pbm_envs.text.reading`).
"""

from __future__ import annotations

from typing import Any, final

from ..core.checks import install_command
from ..core.game import Game
from ..envs.factories import make_env
from ..registry import registered_games
from ..text import PromptStyle, TextGame

try:
    import textarena as ta
except ImportError:
    raise ImportError(f"TextArena is not installed: {install_command('textarena')}") from None


@final
class TextArenaEnv(ta.Env):
    """One game with TextArena's interface."""

    def __init__(
        self, game: Game, *, legal_moves: bool = False, error_allowance: int = 1, disguise: int | None = None
    ) -> None:
        """Make an environment; `reset` starts a game.

        Args:
            game: The rules.
            legal_moves: Whether to list the legal moves with the board.
            error_allowance: Bad answers in one turn before the next one loses.
            disguise: Seed of made-up names, as in TextGame.
        """
        style = PromptStyle(history=0, legal_moves=legal_moves)  # moves are separate messages
        self.table = TextGame(game, style, attempts=error_allowance + 1, disguise=disguise)
        self._error_allowance = error_allowance

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Start a game; `seed` decides the set-up."""
        game = self.table.game
        if num_players != game.num_players:
            raise ValueError(f"num_players is {num_players}: {game!r} is for {game.num_players}")
        self.table.reset(seed)
        self.state = ta.FFAMultiPlayerState(num_players, seed, error_allowance=self._error_allowance)
        self.state.reset(player_prompt_function=self._prompt)
        self._turn()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the answer of the player to move, and return (done, info) as TextArena's own games do."""
        table, state = self.table, self.state
        player, kinds = table.to_move, ta.ObservationType
        state.add_observation(from_id=player, to_id=player, message=action, observation_type=kinds.PLAYER_ACTION)
        outcome = table.answer(action)
        if outcome.played:
            self._tell_ply(kinds.GAME_ACTION_DESCRIPTION)
        elif outcome.forfeited:
            state.game_info[player]["invalid_move"] = True
            self._tell_ply(kinds.GAME_ADMIN)
            if not table.done:
                state.add_elimination(player)
        else:
            state.made_invalid_move = True
            state.error_count = table.failed
            state.add_observation(to_id=player, message=outcome.message, observation_type=kinds.GAME_ADMIN)
        if table.done:
            ending = table.game.status(table.states).rpartition(" - ")[2]
            reason = f"player_{player} has forfeited the game." if outcome.forfeited else f"{ending}."
            state.set_game_outcome(dict(enumerate(table.returns)), reason)
        done, info = state.step(rotate_player=False)
        self._turn()
        return done, info

    def _prompt(self, player_id: int, game_state: Any) -> str:
        return f"{self.table.system_prompt()}\n\nYour move may also be given in brackets: [...]."

    def _turn(self) -> None:
        """Send the board to the player to move, or at the end to all players."""
        table, state = self.table, self.state
        if not table.done:
            state.manually_set_current_player_id(table.to_move, force=True)
        for player in range(table.game.num_players) if table.done else [table.to_move]:
            text, kind = table.prompt(player), ta.ObservationType.GAME_BOARD
            state.add_observation(to_id=player, message=text, observation_type=kind)

    def _tell_ply(self, kind: Any) -> None:
        """Send each player the last ply as that player has seen it."""
        for player, history in enumerate(self.table.histories):
            seen = history.plies[-1]
            text = f"player_{seen.player}: {self.table.words.ply(seen)}"
            self.state.add_observation(to_id=player, message=text, observation_type=kind)


def make_textarena(name: str, **settings: Any) -> TextArenaEnv:
    """Make the environment of an id, with the settings of TextArenaEnv and the options of the game."""
    return make_env(TextArenaEnv, name, settings)


def register() -> None:
    """Register the games with TextArena, unless they are registered."""
    from textarena.envs.registration import ENV_REGISTRY

    for name, kind in registered_games().items():
        for suffix, wrappers in (("", [ta.wrappers.LLMObservationWrapper]), ("-raw", None)):
            env_id = f"Pbm{kind.__name__}-v0{suffix}"
            if env_id not in ENV_REGISTRY:
                ta.register(env_id, make_textarena, default_wrappers=wrappers, name=name)


register()
