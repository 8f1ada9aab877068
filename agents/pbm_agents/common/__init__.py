"""What several floors of this package need: progress bars, worker processes, folders that belong to one command."""
