"""Commands as typed, in this process."""

from contextlib import suppress
from pathlib import Path

from pbm_agents.cli.app import app
from typer.testing import CliRunner


def pbm(*words, typed=""):
    """Exit code, stdout and stderr of a command, given in one text or word by word."""
    result = CliRunner().invoke(
        app, words[0].split() if len(words) == 1 else [str(word) for word in words], input=typed
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def output_of(*words, typed=""):
    """What a command that succeeds prints, on stdout and stderr."""
    code, out, err = pbm(*words, typed=typed)
    assert code == 0, out + err
    return out + err


def processes_with(variable):
    """Ids of the processes that have this text in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found
