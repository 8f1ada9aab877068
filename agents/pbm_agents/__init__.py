"""Agents for the games of pbm_envs. They see views, never states, and use only the public names of pbm_envs."""

from .agent import Agent, RandomAgent, as_policy, make_agent

__all__ = ["Agent", "RandomAgent", "as_policy", "make_agent"]
