"""`pbm_envs.adapters.verifiers` under a name by which verifiers finds it: a taskset's id is a top-level package."""

from pbm_envs.adapters.verifiers import GameEnv, GameTaskset

__all__ = ["GameEnv", "GameTaskset"]
