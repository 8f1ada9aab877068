"""Unlur."""

from .game import Unlur as Unlur
