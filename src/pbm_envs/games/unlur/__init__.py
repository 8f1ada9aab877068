"""Unlur."""

from .game import Unlur

__all__ = ["Unlur"]
