"""Curio. The module `pieces` contains its rules for programs that search lines of play."""

from .game import Curio as Curio
