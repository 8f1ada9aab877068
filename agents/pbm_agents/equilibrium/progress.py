"""Progress bars, if they are wanted."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any


def progress_bar(shown: bool, total: int | None = None, unit: str = " sets") -> Any:
    """A context whose `update(count)` counts on, with a bar if `shown` (extra `cli`)."""
    if not shown:
        return nullcontext(SimpleNamespace(update=lambda _: None))
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install 'pbm-envs[cli]'") from None
    return tqdm(total=total, unit=unit, unit_scale=True, dynamic_ncols=True)
