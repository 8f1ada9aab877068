"""Curio."""

from .game import Curio

__all__ = ["Curio"]
