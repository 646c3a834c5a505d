"""The report as one HTML file that needs nothing else: no network, and without scripts still all the numbers.

Jinja escapes every value; what comes from a skill or a model has its hidden characters spelled out besides. The
page forbids itself every request (content security policy), so a slip would stay without effect.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from skilleval.report.agreement_tables import document_tables
from skilleval.report.cases import REPLY_SHAPE, Case
from skilleval.report.charts import figures
from skilleval.report.columns import absences
from skilleval.report.document import Excerpt, Report
from skilleval.report.facts import STATE_SHAPES, origins, run_line
from skilleval.report.gate_table import gate_text_table
from skilleval.report.html_view import page, target
from skilleval.report.numbers import DASH, count, duration, rate
from skilleval.report.text import LAYOUT, escaped, json_text, one_line, pieces, script_json
from skilleval.report.uplift import FINDINGS
from skilleval.report.uplift_tables import (
    assertion_table,
    case_table,
    judge_table,
    signal_counts,
    uplift_table,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)

_FOLD_LENGTH = 500
_FOLD_LINES = 10


def render(report: Report) -> str:
    """Write the page."""
    template = environment().get_template("report.html.j2")
    drawn = figures(report)
    return template.render(
        report=report,
        page=page(report),
        facts=run_line(report.run),
        shape=STATE_SHAPES[report.verdict.state],
        absences=absences(report.columns, report.summary),
        origins=origins(report),
        config=json_text(dict(report.provenance.config), indent=2) if report.provenance.config else "",
        gate=gate_text_table(report),
        uplift=uplift_table(report),
        uplift_cases=case_table(report),
        assertions=assertion_table(report),
        signals=signal_counts(report),
        judges=judge_table(report),
        agreement=document_tables(report.agreement),
        hidden_failures=max(report.n_failures - len(report.failures), 0),
        policy=POLICY,
        style=inline("report.css"),
        script=inline("report.js"),
        figures=drawn,
        charts=_charts() if drawn else "",
    )


@cache
def environment() -> Environment:
    """Give the templates with the filters that make foreign text safe."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("skilleval.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "seen": _seen,
        "block": _block,
        "line": one_line,
        "script_json": _script_json,
        "count": count,
        "rate": rate,
        "duration": duration,
        "padded": padded,
    }
    found.globals |= {
        "target": target,
        "is_long": _is_long,
        "repeats": _repeats,
        "reply_shape": REPLY_SHAPE,
        "finding_shapes": FINDINGS,
    }
    return found


def padded(text: str) -> str:
    """Fill a short decimal up with figure spaces, so that the points of a right-aligned column stand in line."""
    whole, point, decimals = text.partition(".")
    if text == DASH or not whole[-1:].isdigit() or (point and not decimals.isdigit()):
        return text
    missing = "\u2007" * (3 - len(decimals))
    return f"{text}{missing}" if point else f"{text}\u2008{missing}"


def _seen(text: str, keep: str = "") -> Markup:
    """Mark the hidden characters of a text, but those to keep."""
    from markupsafe import Markup, escape

    marked = Markup('<span class="hidden">{}</span>')
    parts = pieces(text, keep=keep)
    return Markup("").join(marked.format(escaped(part)) if hidden else escape(part) for part, hidden in parts)


def _block(text: str) -> Markup:
    """Mark the hidden characters of a text of several lines."""
    return _seen(text, keep=LAYOUT)


def _script_json(value: object) -> Markup:
    from markupsafe import Markup

    return Markup(script_json(value))  # noqa: S704 - script_json escapes all that could leave the script element


def inline(name: str) -> Markup:
    """Give a file of this package as it stands, for an element of its own."""
    from markupsafe import Markup

    return Markup(files("skilleval.report").joinpath("templates", name).read_text("utf-8"))  # noqa: S704 - a file of this package


@cache
def _charts() -> Markup:
    """Give the chart library as one script; only its own end tag could end the element too early."""
    import vl_convert
    from markupsafe import Markup

    library = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return Markup(library.replace("</script", "<\\/script"))  # noqa: S704 - a library, no foreign text


def _is_long(text: Excerpt) -> bool:
    return text.length > _FOLD_LENGTH or text.text.count("\n") >= _FOLD_LINES


def _repeats(case: Case) -> str:
    plural = "" if len(case.repeats) == 1 else "s"
    return f"repeat{plural} {', '.join(str(repeat) for repeat in case.repeats)}"
