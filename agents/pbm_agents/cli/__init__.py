"""The `pbm` command. It needs the extra `cli` (typer and rich), which nothing else in the package imports."""

import os
import sys


def main() -> None:
    """Run the `pbm` command."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        from pbm_envs.toolbox import install_command

        print(f"pbm needs {error.name}, of the extra `cli`: {install_command('cli')}", file=sys.stderr)
        sys.exit(2)
    sys.path.append(os.getcwd())  # finds the user's agents: `pbm play curio person my_module:MyAgent`
    app(prog_name="pbm")
