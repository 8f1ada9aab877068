"""Optional progress bars."""

from __future__ import annotations

from typing import Any

from pbm_envs.toolbox import import_extra


class NoBar:
    """A replacement for a bar that is not shown, with the same methods, which do nothing."""

    def __enter__(self) -> NoBar:
        return self

    def __exit__(self, *error: object) -> None: ...

    def update(self, n: float = 1) -> None: ...

    def set_postfix_str(self, text: str, refresh: bool = True) -> None: ...


def progress_bar(shown: bool = True, **settings: Any) -> Any:
    """Return a context manager whose `update(count)` advances a progress bar, displayed if `shown`.

    Args:
        shown: Whether to display a bar.
        settings: Arguments of `tqdm.tqdm`: `total`, `initial`, `unit`, `desc`, ...

    Raises:
        ImportError: A bar is requested and the extra `cli` is not installed.
    """
    if not shown:
        return NoBar()
    return import_extra("tqdm.auto", "a progress bar needs tqdm", "cli").tqdm(**{"dynamic_ncols": True} | settings)
