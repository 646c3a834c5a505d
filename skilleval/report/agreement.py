"""How far the scorers of a run agree, as pure data; see `document`. A rater is a scorer, or a person that labelled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterPair:
    """Two raters of the same attempts: how their verdicts fall together, and what their agreement is worth.

    `n_only_a` attempts passed for a alone. `kendall_tau` compares the orders in which they put the `n_conditions` that
    both rate. Where a coefficient is null, its reason says why.
    """

    rater_a: str
    rater_b: str
    n_both: int
    n_both_passed: int
    n_only_a: int
    n_only_b: int
    n_both_failed: int
    n_one_ungraded: int
    percent_agreement: float | None = None
    kappa: float | None = None
    kappa_reason: str | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None
    kappa_method: str | None = None
    score_difference: float | None = None
    score_distance: float | None = None
    kendall_tau: float | None = None
    tau_reason: str | None = None
    n_conditions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """All raters together, on `verdicts` or on `scores`: Fleiss' kappa and Krippendorff's alpha."""

    kind: str
    n_raters: int
    n_trials: int
    n_values: int
    n_complete: int
    percent_agreement: float | None = None
    fleiss_kappa: float | None = None
    fleiss_reason: str | None = None
    alpha: float | None = None
    alpha_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A scorer held against the labels of people. `n_only_judge` attempts passed for the scorer alone."""

    judge: str
    reference: str
    n_both: int
    n_both_passed: int
    n_both_failed: int
    n_only_judge: int
    n_only_reference: int
    sensitivity: float | None = None
    specificity: float | None = None
    precision: float | None = None
    bias: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCount:
    """What one rater says of the attempts of one task."""

    rater: str
    n_graded: int
    n_passed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedTask:
    """A task on which the raters are not of one mind; `disagreement` is the share of pairs of verdicts that differ."""

    task_id: str
    n_trials: int
    n_split: int
    disagreement: float
    counts: tuple[RaterCount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """All that is said of the scorers of a run. `n_disputed` counts all disputed tasks, also those beyond `tasks`.

    `people` and `people_overall` compare the persons behind labels where there are several.
    """

    raters: tuple[str, ...]
    n_trials: int
    n_left_out: int
    pairs: tuple[RaterPair, ...] = ()
    overall: tuple[Overall, ...] = ()
    calibration: tuple[Calibration, ...] = ()
    tasks: tuple[DisputedTask, ...] = ()
    n_disputed: int = 0
    people: tuple[RaterPair, ...] = ()
    people_overall: tuple[Overall, ...] = ()
