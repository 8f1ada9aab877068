"""Players: the agent interface and every kind of agent, and their names."""
