"""What every format says of a sweep above its tables."""

from __future__ import annotations

from skilleval.report.numbers import counted, points, rate
from skilleval.report.sweep_document import SweepReport


def headline(report: SweepReport) -> str:
    """Name the sweep."""
    return f"Sweep {report.about.sweep_id}"


def sweep_line(report: SweepReport) -> tuple[str, ...]:
    """Say in short what was swept, by what, and how it is judged."""
    about, method = report.about, report.method
    states = ", ".join(f"{n} {state}" for state, n in about.by_state.items())
    swept = " × ".join(f"{one['name']} ({len(one['levels'])})" for one in report.settings)
    facts = (
        about.experiment,
        f"{counted(about.n_jobs, 'job')}: {states}" if states else "",
        swept,
        f"started {about.started_at[:19].replace('T', ' ')} UTC" if about.started_at else "",
        f"{about.sweeper} sweeper, {about.launcher} launcher" if about.launcher else "",
        f"margin {points(method.margin).lstrip('+')} pp" if method.kind == "difference" else "",
        f"level {rate(method.level)}",
        f"seed {method.seed}",
    )
    return tuple(fact for fact in facts if fact)
