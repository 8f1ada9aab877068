"""`python -m pbm_agents.cli`, where `pbm` is not on the path."""

from . import main

main()
