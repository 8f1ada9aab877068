"""The top-level package by which verifiers finds `pbm_envs.adapters.verifiers`, since a taskset's id must be one."""

from pbm_envs.adapters.verifiers import GameEnv, GameTaskset

__all__ = ["GameEnv", "GameTaskset"]
