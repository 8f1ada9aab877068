"""The games: one package each, and modules that two of them share."""
