"""Slow, obvious implementations of the games, independent of src/, to compare with."""
