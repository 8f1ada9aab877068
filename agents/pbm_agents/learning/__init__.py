"""Learning: games as training data, networks."""
