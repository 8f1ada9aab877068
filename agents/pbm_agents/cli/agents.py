"""`pbm agents`: the kinds of agents and their settings."""

from typing import Annotated

import typer

from pbm_envs.toolbox import nearest, typed

from ..players.names import agent_kinds
from .terminal import say, table

EXAMPLES = """
  pbm agents
  pbm agents mcts
"""


def agents(kind: Annotated[str | None, typer.Argument(help="List the settings of this kind.")] = None) -> None:
    """List the kinds of agents, or the settings of one.

    An agent is named by its kind and settings, such as `mcts:simulations=1000,c=1.2`, or as `module:attribute`.
    """
    kinds = agent_kinds()
    if kind is None:
        table(["agent", "meaning"], [[each.name, each.help] for each in kinds.values()], prose=["meaning"])
        say("\n`pbm agents KIND` lists the settings of one.")
        return
    if kind not in kinds:
        raise ValueError(f"{kind!r} is not a kind of agent: expected one of {', '.join(kinds)}{nearest(kind, kinds)}")
    found = kinds[kind]
    say(f"{kind}: {found.help}\n")
    rows = [[each.name, typed(each.default), each.typed, each.help] for each in found.settings]
    table(["setting", "default", "allowed", "meaning"], rows, prose=["allowed", "meaning"])
    numbers = [each for each in found.settings if each.default is not None and each.type in (int, float, bool)]
    settings = ",".join(f"{each.name}={typed(each.default)}" for each in numbers[:2])
    say(f"\nExample: {kind}{':' * bool(settings)}{settings}")
