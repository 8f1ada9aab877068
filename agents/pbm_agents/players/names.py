"""Names of agents, the same everywhere: `kind` or `kind:setting=value,setting=value`.

`mcts:seconds=0.5,c=1.2` is a tree search by the clock, `champion:seconds=0.1` the strongest player in this package for
the game, `mcts:simulations=100,network=network.pt` a search with a network. `package.module:attribute` is your own: an
agent, a `Search`, a policy, or a class or function that makes one; `package.module:Net:file=a.pt,temperature=0.5` calls
it with settings.

`pbm agents` lists every kind, `agent_kinds()` has the settings of each with types, defaults and help; `register_agent`
adds a kind. A value cannot contain a comma.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Collection
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option
from pbm_envs.envs.memory import Ids, new_ids
from pbm_envs.envs.opponents import single_opponent
from pbm_envs.toolbox import REQUIRED, check_seed, describe_error, nearest, options_of, parse_options, quoted

from ..search import SEARCH_SETTINGS, Search
from .agent import Agent, AnyAgent, GreedyAgent, RandomAgent
from .kinds import agent_kinds as agent_kinds
from .kinds import register_agent as register_agent
from .llm import LLMAgent
from .openspiel import OpenSpielISMCTS, OpenSpielMCTS
from .policy import Act, FunctionAgent, Policy, PolicyAgent
from .search_agents import PIMCAgent, SearchAgent

AgentLike: TypeAlias = "str | AnyAgent | Search | Policy | Act"
"""Anything that `as_agent` turns into an agent."""
REASON_LENGTH = 300
"""The most characters of a user's exception that an error message repeats."""
AGENT_SETTINGS = tuple(
    replace(setting, default=True) if setting.name == "early_stop" else setting  # agents stop early
    for setting in SEARCH_SETTINGS
)
SEARCH_WEB_SETTINGS = {setting.name for setting in AGENT_SETTINGS} - {"selection"}  # it imports a module

register_agent("random", RandomAgent, web_settings=())
for _name in ("mcts", "ismcts"):
    register_agent(_name, SearchAgent, settings=AGENT_SETTINGS, web_settings={*SEARCH_WEB_SETTINGS, "temperature"})
register_agent("pimc", PIMCAgent, settings=AGENT_SETTINGS, web_settings={*SEARCH_WEB_SETTINGS, "worlds"})
register_agent("greedy", GreedyAgent, web_settings=("worlds",))
register_agent(
    "champion",
    "pbm_agents.champions:ChampionAgent",
    web_settings=("simulations", "seconds", "early_stop"),
    help="The strongest player of this package for each game, with a budget.",
)
register_agent(
    "exact",
    "pbm_agents.exact:ExactAgent",
    settings=AGENT_SETTINGS,
    web_settings=SEARCH_WEB_SETTINGS,
    help="Plays Trinim exactly; plays larger positions and other games as the tree search does.",
)
register_agent(
    "equilibrium",
    "pbm_agents.equilibrium.agent:EquilibriumAgent",
    help="An equilibrium of a small two-player game, solved when it is first played.",
)
register_agent(
    "resolve",
    "pbm_agents.equilibrium.resolving:ResolvingAgent",
    help="Continual resolving on the public tree, which is hard to exploit (two players).",
)
register_agent(
    "mirror",
    "pbm_agents.equilibrium.mirror:MirrorAgent",
    help="Mixes its actions by their values: a step of magnetic mirror descent (update-equivalent search).",
)
register_agent("network", "pbm_agents.learning.agents:network_agent", help="A trained network, without search.")
register_agent(
    "recurrent", "pbm_agents.learning.agents:recurrent_agent", help="A trained network that remembers each game."
)
register_agent("llm", LLMAgent)
register_agent("openspiel-mcts", OpenSpielMCTS, web_settings=("simulations", "c"))
register_agent("openspiel-ismcts", OpenSpielISMCTS, web_settings=("simulations", "c"))


def make_agent(name: str) -> Agent:
    """Return the agent with this name: `kind` or `module:attribute`, and settings.

    >>> make_agent("mcts:seconds=0.5,c=1.2")  # doctest: +ELLIPSIS
    <pbm_agents.players.search_agents.SearchAgent object at ...>
    >>> make_agent("mtcs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: 'mtcs' is not an agent: expected random, mcts, ... or module:attribute. Did you mean 'mcts'?

    Args:
        name: `kind` or `kind:setting=value,setting=value`, where the kind is a registered one or `module:attribute`.

    Raises:
        ValueError: For an unknown kind, setting or value; or if your own module raises an exception.
        ImportError: For a kind that needs an extra that is not installed.
    """
    kinds = agent_kinds()
    kind, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind in kinds:
        return as_agent(kinds[kind].make(**_settings(name, kind, rest, kinds[kind].settings)))
    if rest:
        attribute, _, settings = rest.partition(":")
        return _own(name, kind, attribute, settings)
    raise ValueError(
        f"{quoted(name)} is not an agent: expected {', '.join(kinds)} or module:attribute{nearest(kind, kinds)}"
    )


def make_agent_for(name: str, game: Game) -> Agent:
    """Return the agent with this name, as `make_agent` does, if it plays `game`.

    An agent that does not play every game has a method `check_plays(game)`, which raises ValueError for the others.

    Raises:
        ValueError: If the name is wrong, or the agent refuses the game.
        ImportError: For a kind that needs an extra that is not installed.
    """
    agent = make_agent(name)
    try:
        getattr(agent, "check_plays", lambda _: None)(game)
    except ValueError as error:
        raise ValueError(f"{name!r} cannot play this game: {error}") from None
    return agent


def as_agent(given: AgentLike) -> Agent:
    """Return an agent made from anything that `evaluate`, `as_policy`, and the `opponent` of environments accept.

    Args:
        given: A name; an agent, with `act(game, views, rng)`; a function with these arguments; a `Search`; or a policy,
            a function from observations and masks to actions or scores (`PolicyAgent`).

    Raises:
        ValueError: If `given` is none of these.
    """
    if isinstance(given, str):
        return make_agent(given)
    if not isinstance(given, type):
        if callable(getattr(given, "act", None)):
            agent: Any = given
            return agent
        if isinstance(given, Search):
            return SearchAgent(given)
        if callable(given):
            function: Any = given
            if _accepts(function, 2):
                return PolicyAgent(function)
            if _accepts(function, 3):
                return FunctionAgent(function)
    raise ValueError(
        f"{quoted(given, REASON_LENGTH)} is not an agent: expected a name, an agent with act(game, views, rng), such a "
        "function, a Search, or a function of observations and masks"
    )


def as_policy(agent: AgentLike, seed: int | None = None) -> Callable[[Any], int | None]:
    """Return a policy function for a PettingZoo loop, made from an agent.

        policy = as_policy("mcts:simulations=200", seed=7)
        for name in env.agent_iter():
            env.step(policy(env))

    Args:
        agent: Anything that `as_agent` accepts.
        seed: The seed of the agent's random generator.

    Returns:
        A function that is called with the environment and returns the action of `env.agent_selection`, or None if that
        agent is done. The agent gets only the view of that player.
    """
    asked = single_opponent(as_agent(agent))
    check_seed("seed", seed)
    rng = np.random.default_rng(seed)
    ids: dict[str, Ids] = {}
    last_game = -1

    def policy(env: Any) -> int | None:
        nonlocal last_game
        player = env.agent_selection
        if env.terminations[player] or env.truncations[player]:
            return None
        game, states = env.unwrapped.game, env.unwrapped.states
        number = env.unwrapped.game_number
        if number != last_game:
            for old in ids.values():
                asked.end(old)
            ids.clear()
        last_game = number
        if player not in ids:
            ids[player] = new_ids(1)
            asked.begin(game, ids[player])
        view = game.view(states, env.possible_agents.index(player))
        return int(asked.answer(game, view, rng, ids[player])[0])

    return policy


def may_be_named_on_the_web(name: str) -> bool:
    """Return whether users of a web page may choose this agent.

    Its kind and settings must be allowed by `register_agent`; a `module:attribute` is never allowed.
    """
    kind, _, rest = name.partition(":")
    allowed = agent_kinds()[kind].web_settings if kind in agent_kinds() else None
    settings = {part.partition("=")[0].strip() for part in rest.split(",")} if rest else set()
    return allowed is not None and settings <= allowed


def _settings(name: str, kind: str, text: str, known: Collection[Option]) -> dict[str, Any]:
    """Return the settings in an agent's name."""
    try:
        values = parse_options(kind, text.split(",") if text else (), known)
    except ValueError as error:
        raise ValueError(f"{quoted(name)}: {error}") from None
    for each in known:
        if each.default is REQUIRED and each.name not in values:
            raise ValueError(f"{quoted(name)} has no {each.name}: expected {kind}:{each.name}=VALUE, {each.typed}")
    return values


def _own(name: str, module: str, attribute: str, settings: str) -> Agent:
    """Return the agent that a user's own module contains, or makes."""
    try:
        found = attrgetter(attribute)(importlib.import_module(module))
        if settings:
            if not callable(found):
                raise ValueError(f"{attribute} takes no settings: expected a class or a function")
            found = found(**parse_options(f"{module}:{attribute}", settings.split(","), options_of(found)))
        elif isinstance(found, type) or (callable(found) and not hasattr(found, "act") and _accepts(found, 0)):
            found = found()
        return as_agent(found)
    except (Exception, SystemExit) as error:  # users' code may raise anything
        reason = describe_error(error, REASON_LENGTH)
        if not isinstance(error, ModuleNotFoundError) or not f"{module}.".startswith(f"{error.name}."):
            raise ValueError(f"{quoted(name)} cannot be loaded: {reason}") from error
        kinds = ", ".join(agent_kinds())
        raise ValueError(f"{quoted(name)} is not an agent: expected {kinds} or module:attribute ({reason})") from error


def _accepts(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function accepts `count` arguments; assume so for C functions without a signature."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return count > 0
    return True
