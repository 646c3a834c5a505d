from __future__ import annotations

import dataclasses

import pytest
from papers import FORMULAS, group, paper, source

from skilleval.report.paper.methods import methods_tex
from skilleval.report.paper.references import METHODS, bibliography, cited, keys_of
from skilleval.report.paper.used import methods_used


def test_the_paragraph_says_what_was_done() -> None:
    """Benchmark, skills, amount, sandbox, seeds and software are those of the manifest."""
    found = methods_tex(paper()).replace(r"\allowbreak{}", "")
    for said in (
        "3 skills (calculator 1.0.0, flaky-calculator 1.0.0, wrong-calculator 1.0.0)",
        "coding-easy@1.1.0 (20 tasks, 3 repeats each",
        "the sandbox none, which enforces nothing",
        "Random seeds: runner 0",
        "skilleval 0.1.0",
        r"95\,\% Agresti--Coull intervals",
    ):
        assert said in found


def test_only_methods_that_were_used_are_cited() -> None:
    """A paper without comparisons cites no test, and every key that is cited has an entry."""
    plain = paper(group(compared=()))
    assert "holm1979" not in methods_tex(plain)
    assert "holm" not in methods_used(plain)
    full = paper()
    text = methods_tex(full)
    entries = bibliography(methods_used(full), version="1")
    for key in keys_of(methods_used(full)):
        assert key in text
        assert f"{{{key}," in entries
    assert entries.count("\n@") == len(keys_of(methods_used(full)))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_paper(method: str) -> None:
    """Each method names papers that have an entry."""
    entries = bibliography([method], version="1")
    assert all(f"{{{key}," in entries for key in METHODS[method])
    assert cited(method).startswith(r"\cite{")


@pytest.mark.parametrize(
    "interval", ["clustered_t", "wilson_neff", "wilson", "clopper_pearson", "bootstrap", "bca"]
)
def test_every_interval_can_be_named(interval: str) -> None:
    """Whichever interval the analysis asks for, the paragraph names and cites it."""
    formulas = dataclasses.replace(FORMULAS, interval=interval)
    assert cited(interval) in methods_tex(paper(group(formulas=formulas)))


def test_runs_that_were_cut_short_are_told() -> None:
    """A reader is told that a run ended early."""
    cut = source(interrupted=True)
    assert "1 run ended early" in methods_tex(paper(group(sources=(cut,))))


def test_foreign_names_stay_text() -> None:
    """No id of a skill or a benchmark is a command."""
    evil = source(skills=[{"id": r"\write18{id}", "version": "1"}])
    assert r"\write18" not in methods_tex(paper(group(sources=(evil,), benchmark=r"\input{x}")))
