"""Adapters for libraries that do not take turn-based games with masks as they are, with a module for each library.

The library must be installed; `notebooks/training/README.md` says which versions go together.
"""
