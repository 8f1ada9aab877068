"""Trinim."""

from .game import Trinim

__all__ = ["Trinim"]
