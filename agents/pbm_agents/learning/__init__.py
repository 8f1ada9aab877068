"""Learning: games as training data, networks, and training."""
