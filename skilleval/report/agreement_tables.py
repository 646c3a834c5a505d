"""The tables on the agreement of scorers, as cells of text for every format; foreign text is not escaped yet."""

from __future__ import annotations

from skilleval.report.agreement import Agreement, Calibration, DisputedTask, Overall, RaterPair
from skilleval.report.numbers import DASH, Style, count, counted, rate, signed, signed_interval
from skilleval.report.text_table import TextTable

_SAME = 1e-9
_HEADINGS = {
    "scorers": "How far the scorers agree",
    "calibration": "The scorers held against the labels",
    "people": "How far the people behind the labels agree",
    "disputed": "Tasks that the scorers disagree on",
}


def agreement_tables(agreement: Agreement | None) -> tuple[TextTable, ...]:
    """Give all that there is to show of the scorers of a run; nothing for fewer than two."""
    if agreement is None:
        return ()
    found = (
        _pairs("scorers", agreement.pairs, scorers_note(agreement)),
        _calibration(agreement.calibration),
        _pairs("people", agreement.people, " ".join(map(overall_sentence, agreement.people_overall))),
        _disputed(agreement),
    )
    return tuple(table for table in found if table is not None)


def document_tables(agreement: Agreement | None) -> tuple[TextTable, ...]:
    """Give the tables of a report, which shows the disputed tasks skill by skill already."""
    return tuple(table for table in agreement_tables(agreement) if table.name != "disputed")


def scorers_note(agreement: Agreement) -> str:
    """Say what the table of scorers rests on, and how far all of them together agree."""
    left = (
        f"; {counted(agreement.n_left_out, 'trial')} without a reply left out" if agreement.n_left_out else ""
    )
    basis = f"On {counted(agreement.n_trials, 'completed trial')}{left}."
    return " ".join((basis, *map(overall_sentence, agreement.overall), *_orders(agreement)))


def _orders(agreement: Agreement) -> list[str]:
    """Say whether the order of the skills survives the choice of scorer."""
    known = [
        (pair.kendall_tau, f"{pair.rater_a}, {pair.rater_b}")
        for pair in agreement.pairs
        if pair.kendall_tau is not None
    ]
    if not known:
        return []
    (least, who), (most, _) = min(known), max(known)
    if least >= 1 - _SAME:
        return ["They put the skills in one order."]
    span = rate(least) if len(known) == 1 else f"from {rate(least)} ({who}) to {rate(most)}"
    return [f"Kendall's tau of the orders they put the skills in: {span}."]


def overall_sentence(one: Overall) -> str:
    """Say in a sentence how far all raters agree on verdicts or on scores."""
    alpha = f"Krippendorff's alpha {_coefficient(one.alpha, one.alpha_reason)}"
    if one.kind != "verdicts":
        return f"All {one.kind}: {alpha}."
    fleiss = f"Fleiss' kappa {_coefficient(one.fleiss_kappa, one.fleiss_reason)}"
    agreeing = f"{rate(one.percent_agreement)} of pairs agree"
    size = f"{counted(one.n_raters, 'rater')}, {counted(one.n_trials, 'trial')}"
    return f"All {one.kind} ({size}): {agreeing}, {fleiss}, {alpha}."


def _coefficient(value: float | None, reason: str | None) -> str:
    return f"{DASH} ({reason})" if value is None and reason else rate(value)


def _pairs(name: str, pairs: tuple[RaterPair, ...], note: str) -> TextTable | None:
    """Give a row a pair; the order of skills is there only where there are several to order."""
    with_order = any(pair.kendall_tau is not None for pair in pairs)
    header = (
        "a",
        "b",
        "both judged",
        "agree",
        "kappa",
        "both pass",
        "only a",
        "only b",
        "both fail",
        "Δ score",
    )
    rows = tuple((*_pair_row(pair), *([rate(pair.kendall_tau)] if with_order else [])) for pair in pairs)
    whole = (*header, "tau of the rankings") if with_order else header
    return _table(name, note, whole, rows, n_words=2) if rows else None


def _pair_row(pair: RaterPair) -> tuple[str, ...]:
    interval = signed_interval(pair.kappa_low, pair.kappa_high).replace("+", "")
    kappa = rate(pair.kappa)
    cells = (pair.n_both_passed, pair.n_only_a, pair.n_only_b, pair.n_both_failed)
    return (
        pair.rater_a,
        pair.rater_b,
        count(pair.n_both),
        rate(pair.percent_agreement),
        kappa if interval == DASH else f"{kappa} {interval}",
        *map(count, cells),
        signed(pair.score_difference, Style.RATE),
    )


def _calibration(found: tuple[Calibration, ...]) -> TextTable | None:
    note = (
        "Sensitivity: the share the scorer passed of what people passed; specificity: the share it failed of what they "
        "failed; bias: its pass rate less theirs."
    )
    header = (
        "scorer",
        "labels",
        "both judged",
        "sensitivity",
        "specificity",
        "precision",
        "bias",
        "too mild",
        "too strict",
    )
    rows = tuple(
        (
            one.judge,
            one.reference,
            count(one.n_both),
            rate(one.sensitivity),
            rate(one.specificity),
            rate(one.precision),
            signed(one.bias, Style.RATE),
            count(one.n_only_judge),
            count(one.n_only_reference),
        )
        for one in found
    )
    return _table("calibration", note, header, rows, n_words=2) if rows else None


def _disputed(agreement: Agreement) -> TextTable | None:
    if not agreement.tasks:
        return None
    more = agreement.n_disputed - len(agreement.tasks)
    left = f" {counted(more, 'more task')} not shown." if more else ""
    note = f"Trials passed of trials judged, by each scorer; the most disputed tasks first.{left}"
    header = ("task", "trials", "split", "disagreement", *agreement.raters)
    rows = tuple(_disputed_row(task, agreement.raters) for task in agreement.tasks)
    return _table("disputed", note, header, rows, n_words=1)


def _disputed_row(task: DisputedTask, raters: tuple[str, ...]) -> tuple[str, ...]:
    said = {one.rater: f"{count(one.n_passed)}/{count(one.n_graded)}" for one in task.counts if one.n_graded}
    figures = (count(task.n_trials), count(task.n_split), rate(task.disagreement))
    return (task.task_id, *figures, *(said.get(rater, DASH) for rater in raters))


def _table(
    name: str, note: str, header: tuple[str, ...], rows: tuple[tuple[str, ...], ...], *, n_words: int
) -> TextTable:
    """Make a table whose first columns hold words, the others numbers."""
    numeric = tuple(index >= n_words for index in range(len(header)))
    return TextTable(name=name, title=_HEADINGS[name], note=note, header=header, numeric=numeric, rows=rows)
