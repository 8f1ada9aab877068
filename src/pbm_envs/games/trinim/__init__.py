"""Trinim."""

from .game import Trinim as Trinim
