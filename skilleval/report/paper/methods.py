"""The paragraph on methods, from what manifests and settings say; nothing stands in it that was not done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from skilleval.report.columns import tally, words
from skilleval.report.latex_text import escape
from skilleval.report.numbers import count, counted, rate
from skilleval.report.paper.document import Formulas, Group, Paper, Source
from skilleval.report.paper.references import cited
from skilleval.report.paper.used import of_group

_NAMED = 12
_SHORT = 16
_PACKAGES = ("skilleval", "python", "polars", "scipy")
_INTERVALS = {
    "agresti_coull_t": "Agresti--Coull intervals on the effective number of trials, with quantiles of Student's $t$",
    "clustered_t": "$t$ intervals with cluster-robust standard errors",
    "wilson_neff": "Wilson intervals on the effective number of trials",
    "wilson": "Wilson intervals that take trials as independent",
    "clopper_pearson": "Clopper--Pearson intervals that take trials as independent",
    "bootstrap": "percentile bootstrap intervals",
    "bca": "bias-corrected and accelerated bootstrap intervals",
}


def methods_tex(paper: Paper) -> str:
    """Write a paragraph a benchmark, then one on software and seeds."""
    paragraphs = [" ".join(_paragraph(group)) for group in paper.groups]
    return "\n\n".join([*paragraphs, " ".join(_software(paper))]) + "\n"


def _paragraph(group: Group) -> Iterator[str]:
    used = frozenset(of_group(group))
    yield from _what(group)
    yield from _where(group)
    yield from _rates(group, used)
    yield from _comparisons(group, used)
    yield from _agreement(group, used)


def _what(group: Group) -> Iterator[str]:
    facts = group.report.run
    rows = group.report.summary
    skills = [f"{one['id']} {one['version']}".strip() for one in _skills(group.sources)]
    amount = [counted(facts.n_tasks, "task")] if facts.n_tasks is not None else []
    amount += [f"{counted(facts.n_repeats, 'repeat')} each"] if facts.n_repeats is not None else []
    amount += [f"{counted(facts.n_trials, 'trial')} in all"] if facts.n_trials is not None else []
    of = f" ({escape(', '.join(amount))})" if amount else ""
    runs = f" in {counted(len(group.sources), 'run')}" if len(group.sources) > 1 else ""
    yield (
        f"We evaluated {escape(counted(len(skills), 'skill'))} ({_listed(skills)}) on the benchmark "
        f"{escape(group.benchmark)}{of}{escape(runs)}."
    )
    models = _distinct(words(row, "model") for row in rows)
    if models:
        yield f"{_plural('The model was', 'Models were', models)} {_listed(models)}."
    adapters = _distinct(words(row, "adapter") for row in rows)
    if adapters:
        yield f"Skills were driven through {_listed(adapters)}."
    cut = [source for source in group.sources if source.manifest.get("interrupted")]
    if cut:
        yield f"{escape(counted(len(cut), 'run'))} ended early; what had been tried by then is counted."


def _where(group: Group) -> Iterator[str]:
    for name, guarantees in _distinct_pairs(group.sources):
        held = f", which enforced {_listed(guarantees)}" if guarantees else ", which enforces nothing"
        yield f"Programs ran in the sandbox {escape(name)}{held}."
    judging = _distinct(words(row, "scorer") for row in group.report.summary)
    if judging:
        versions = _scorer_versions(group.sources)
        named = [f"{name}{versions.get(name, '')}" for name in judging]
        yield f"Attempts were judged by {_listed(named)}."


def _scorer_versions(sources: Iterable[Source]) -> dict[str, str]:
    """Give the versions of scorers that have one; those of a composed one are in `paper.json` and the data."""
    found: dict[str, list[str]] = {}
    for source in sources:
        for name, about in _mapping(source.manifest, "scorers").items():
            version = str(about.get("version") or "") if isinstance(about, Mapping) else ""
            if version and len(version) <= _SHORT:
                found.setdefault(name, []).append(version)
    return {name: f" (version {', '.join(dict.fromkeys(several))})" for name, several in found.items()}


def _rates(group: Group, used: frozenset[str]) -> Iterator[str]:
    formulas = group.formulas
    rows = group.report.summary
    left = sum(tally(row, "n_infrastructure") + tally(row, "n_ungraded") for row in rows)
    out = f" ({escape(counted(left, 'verdict'))} of this kind)" if left else " (there were none)"
    yield (
        "The completion rate is the share of graded trials that passed; trials that the infrastructure spoiled or that "
        f"nobody could judge are left out{out}."
    )
    if formulas.preset != "default":
        yield f"Rates follow the formulas of the preset {escape(formulas.preset)}."
        return
    sampled = "the task" if formulas.family is None else f"the family of tasks ({escape(formulas.family)})"
    if formulas.interval in used:
        yield (
            f"Rates have {rate(formulas.level * 100)}\\,\\% {_INTERVALS[formulas.interval]} "
            f"{cited(formulas.interval)}{_draws(formulas)}; {sampled} is what is sampled, not the repeat."
        )
    if "one_sided" in used:
        yield f"Where all tasks agree the bound is exact and one-sided {cited('one_sided')}."
    if "mean_interval" in used:
        yield f"Means have $t$ intervals with cluster-robust standard errors {cited('mean_interval')}."
    if "percentile_interval" in used:
        ranks = cited("percentile_interval")
        yield f"Percentiles of latency are nearest ranks, with intervals of order statistics {ranks}."
    if "pass_at_k" in used:
        yield f"Partial scores are pass@{formulas.k} {cited('pass_at_k')}."


def _draws(formulas: Formulas) -> str:
    if formulas.interval not in {"bootstrap", "bca"}:
        return ""
    return f" of {escape(count(formulas.resamples))} resamples"


def _comparisons(group: Group, used: frozenset[str]) -> Iterator[str]:
    if group.compared:
        chosen = ", which was chosen by the same data" if group.is_chosen else ""
        yield f"Every other condition was compared with {escape(group.against)}{chosen}, paired over the tasks."
    if group.report.uplift:
        yield "What a skill adds is the mean difference of scores with and without it, paired over the tasks."
    if "sign_flips" in used:
        drawn = (
            f", drawn where more than 20 tasks moved {cited('drawn_sign_flips')}"
            if "drawn_sign_flips" in used
            else ""
        )
        yield f"Differences were tested by two-sided sign flips {cited('sign_flips')}{drawn}."
    if "holm" in used:
        level = rate(1 - group.formulas.level)
        yield f"P values are adjusted after Holm {cited('holm')} within a scorer, with a family-wise error of {level}."
    if "paired_t" in used:
        yield f"Intervals of differences are paired $t$ intervals {cited('paired_t')}."
    if "gain" in used:
        yield f"The gain is the share of what the baseline left to gain {cited('gain')}."


def _agreement(group: Group, used: frozenset[str]) -> Iterator[str]:
    names = {
        "kappa": "Cohen's kappa",
        "fleiss": "Fleiss' kappa",
        "krippendorff": "Krippendorff's alpha",
        "kendall": "Kendall's tau-b of the orders of skills",
    }
    found = [f"{escape(name)} {cited(key)}" for key, name in names.items() if key in used]
    if group.report.agreement is not None and found:
        bootstrap = (
            f", with bootstrap intervals over tasks {cited('kappa_interval')}"
            if "kappa_interval" in used
            else ""
        )
        yield f"Agreement of scorers on completed trials is given as {', '.join(found)}{bootstrap}."


def _software(paper: Paper) -> Iterator[str]:
    stacks = _distinct(_stack(source.manifest) for source in paper.sources)
    if stacks:
        yield f"Runs were made with {escape('; '.join(stacks))} \\cite{{skilleval}}."
    own = ", ".join(f"{name} {paper.versions[name]}" for name in _PACKAGES if name in paper.versions)
    yield f"Tables and figures were computed from the stored rows with {escape(own)}."
    seeds = _distinct(
        f"{name} {value}"
        for source in paper.sources
        for name, value in _mapping(source.manifest, "seeds").items()
    )
    if seeds:
        yield f"Random seeds: {_listed(seeds)}."
    ids = [source.run_id for source in paper.sources]
    yield f"The {_plural('run is', 'runs are', ids)} {_listed(ids)}."


def _stack(manifest: Mapping[str, Any]) -> str:
    versions = _mapping(manifest, "versions")
    return ", ".join(f"{name} {versions[name]}" for name in _PACKAGES if name in versions)


def _skills(sources: Sequence[Source]) -> list[Mapping[str, str]]:
    found: dict[tuple[str, str, str], Mapping[str, str]] = {}
    for source in sources:
        for one in source.manifest.get("skills") or ():
            if isinstance(one, Mapping):
                about = {key: str(one.get(key) or "") for key in ("id", "version", "digest")}
                found.setdefault((about["id"], about["version"], about["digest"]), about)
    return list(found.values())


def _distinct_pairs(sources: Iterable[Source]) -> list[tuple[str, list[str]]]:
    found: dict[tuple[str, tuple[str, ...]], None] = {}
    for source in sources:
        about = _mapping(source.manifest, "sandbox")
        if about.get("name"):
            found[str(about["name"]), tuple(map(str, about.get("guarantees") or ()))] = None
    return [(name, list(guarantees)) for name, guarantees in found]


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _plural(one: str, several: str, found: Sequence[str]) -> str:
    return one if len(found) == 1 else several


def _listed(texts: Sequence[str]) -> str:
    """Name some things, as many as fit a sentence."""
    shown = [escape(text, limit=80) for text in texts[:_NAMED]]
    more = [f"{count(len(texts) - _NAMED)} more"] if len(texts) > _NAMED else []
    return ", ".join(shown + more)
