"""`python -m pbm_agents.cli`, for use when `pbm` is not on the path."""

from . import main

main()
