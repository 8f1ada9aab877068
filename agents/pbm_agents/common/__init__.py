"""Utilities shared by the subpackages: progress bars, worker processes, and folders that belong to one command."""
