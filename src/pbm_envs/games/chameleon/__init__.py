"""Chameleon."""

from .game import Chameleon

__all__ = ["Chameleon"]
