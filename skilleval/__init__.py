"""skilleval measures agent skills: config → trials → rows → statistics → report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilleval.api import (
        Comparison,
        Run,
        SkillevalError,
        SweepFrames,
        agreement,
        chart,
        compare,
        evaluate,
        open_run,
        outcomes,
        scan_runs,
        select,
        summary,
        sweep_frame,
        sweep_frames,
        uplift,
        uplift_cases,
    )

__version__ = "0.1.0"
__all__ = [
    "Comparison",
    "Run",
    "SkillevalError",
    "SweepFrames",
    "__version__",
    "agreement",
    "chart",
    "compare",
    "evaluate",
    "open_run",
    "outcomes",
    "scan_runs",
    "select",
    "summary",
    "sweep_frame",
    "sweep_frames",
    "uplift",
    "uplift_cases",
]


def __getattr__(name: str) -> Any:
    """Load a public function when it is first used, so that `import skilleval` stays instant."""
    if name not in __all__:
        msg = f"module 'skilleval' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    return getattr(import_module("skilleval.api"), name)


def __dir__() -> list[str]:
    """List the public names, those too that are not loaded yet."""
    return __all__
