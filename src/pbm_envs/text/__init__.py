"""Games in words, for language models or a person at a terminal.

    from pbm_envs import Curio
    from pbm_envs.text import TextGame
    table = TextGame(Curio())
    table.reset(seed=7)
    print(table.system_prompt(), table.prompt())
    outcome = table.answer('... {"move": "a2-a3"}')

This works for every game: the prompts use `Game.wording`, `cell_texts`, `facts` and `move_note`, which have defaults.
"""

from .dialogue import Outcome, TextGame
from .env import TextEnv, TextSeat, make_text_env, register_text_env
from .history import History
from .prompts import COMPACT, FULL, PromptStyle, correction, position, system_prompt, turn_prompt
from .reading import Kind, MoveReader, Reading
from .vocabulary import Disguise, Vocabulary

__all__ = ["COMPACT", "FULL", "Disguise", "History", "Kind", "MoveReader", "Outcome", "PromptStyle", "Reading"]
__all__ += ["TextEnv", "TextGame", "TextSeat", "Vocabulary"]
__all__ += ["correction", "make_text_env", "position", "system_prompt", "turn_prompt"]

register_text_env()
