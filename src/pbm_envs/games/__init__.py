"""The games: one package each, with what two of them share beside them."""
