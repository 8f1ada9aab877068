"""Progress bars, if they are wanted."""

from __future__ import annotations

from typing import Any

from pbm_envs.toolbox import install_command


class NoBar:
    """In place of a bar that is not shown: it takes the same calls and does nothing."""

    def __enter__(self) -> NoBar:
        return self

    def __exit__(self, *error: object) -> None: ...

    def update(self, n: float = 1) -> None: ...

    def set_postfix_str(self, text: str, refresh: bool = True) -> None: ...


def progress_bar(shown: bool = True, **settings: Any) -> Any:
    """Return a context whose `update(count)` counts on, with a bar if `shown`.

    Args:
        shown: Whether there is a bar.
        settings: As `tqdm.tqdm` takes them: `total`, `initial`, `unit`, `desc`, ...

    Raises:
        ImportError: A bar is wanted and the extra `cli` is not installed.
    """
    if not shown:
        return NoBar()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError(f"a progress bar needs tqdm: {install_command('cli')}") from None
    return tqdm(**{"dynamic_ncols": True} | settings)
