"""Chameleon."""

from .game import Chameleon as Chameleon
