"""Named agents that play trained networks. PyTorch is imported when one is made, so that listing needs none of it."""

from __future__ import annotations

from typing import Annotated

from pbm_envs.authoring import Option
from pbm_envs.toolbox import checked

from ..players.agent import Agent, AnyAgent


@checked
def network_agent(
    *,
    file: Annotated[str, Option(help="File written by `PolicyValueNetwork.save`.")] = "network.pt",
    temperature: Annotated[
        float,
        Option(
            low=0,
            help="0 plays the most probable action. Above 0, draws an action in proportion to `probability ** (1 / "
            "temperature)`.",
        ),
    ] = 0.0,
) -> Agent:
    """Return an agent that plays a trained network, without search."""
    from .network import NetworkAgent, PolicyValueNetwork

    return NetworkAgent(PolicyValueNetwork.load(file), temperature)


@checked
def recurrent_agent(
    *,
    file: Annotated[str, Option(help="File written by `RecurrentNetwork.save`.")] = "gru.pt",
    draws: Annotated[
        bool, Option(help="Whether actions are drawn by their probabilities, instead of playing the most probable one.")
    ] = False,
) -> AnyAgent:
    """Return an agent that plays a trained recurrent network, which remembers each game."""
    from .recurrent import RecurrentAgent, RecurrentNetwork

    return RecurrentAgent(RecurrentNetwork.load(file), draws)
