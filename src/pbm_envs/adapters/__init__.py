"""What a library needs to take turn-based masked games, where it needs anything: one module a library, which must be
installed. Which versions go together: `notebooks/training/README.md`.
"""
