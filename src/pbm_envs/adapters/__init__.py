"""Adapters for libraries that do not support turn-based games with masks directly, one module per library.

The library must be installed; `notebooks/training/README.md` lists compatible versions.
"""
