"""Environments for every game (PettingZoo AEC, Gymnasium vector and single-agent), and the learner's opponents."""
