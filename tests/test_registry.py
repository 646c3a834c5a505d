"""Parts are found by our names, by entry points of other packages, and by reference."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skilleval.errors import ConfigError, Problem
from skilleval.registry import kinds, part

OURS = {"exact": int, "contains": float}


def test_our_own_names_come_first() -> None:
    """A registered kind is given as it is."""
    assert part(OURS, "exact", key="k", group="scorers") is int
    assert kinds(OURS, group="scorers") == ["contains", "exact"]


def test_a_reference_is_imported() -> None:
    """`module:attribute` names a part of one's own."""
    assert part(OURS, "collections:OrderedDict.fromkeys", key="k", group="scorers")("a") == {"a": None}


@pytest.mark.parametrize(
    ("kind", "words"),
    [("exct", "did you mean exact"), ("no_such_module:X", "no_such_module"), ("os:nothing", "nothing")],
)
def test_what_is_not_there_is_named(kind: str, words: str) -> None:
    """An unknown kind names the nearest, a broken reference what is missing."""
    with pytest.raises(ConfigError, match=words):
        part(OURS, kind, key="scorers.x.kind", group="scorers")


def test_another_package_adds_a_scorer_by_entry_point(tmp_path: Path) -> None:
    """A scorer of an installed package is chosen by its entry point's name, without touching ours."""
    (tmp_path / "length_scorer.py").write_text(
        "from skilleval.domain.scores import Verdict\n"
        "from skilleval.scorers.base import Finding, ScorerInfo\n"
        "from skilleval.strict import StrictModel\n"
        "class Options(StrictModel):\n    at_most: int\n"
        "class Length:\n"
        "    Options = Options\n"
        "    def __init__(self, options):\n"
        "        self.most = options.at_most\n"
        "        self.info = ScorerInfo(kind='length', version='1', options=options.model_dump())\n"
        "    async def findings(self, record):\n"
        "        passed = len(str(record.output)) <= self.most\n"
        "        verdict = Verdict.PASSED if passed else Verdict.FAILED\n"
        "        return (Finding(verdict=verdict, score=float(passed), reason='length'),)\n"
    )
    info = tmp_path / "length_scorer-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: length-scorer\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[skilleval.scorers]\nlength = length_scorer:Length\n")
    (tmp_path / "conf" / "scorer").mkdir(parents=True)
    (tmp_path / "conf" / "scorer" / "length.yaml").write_text(
        "# @package scorers.length\nkind: length\nat_most: 1000\n"
    )
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "skilleval"),
            "eval",
            "skill_set=examples",
            "scorer=length",
            "--dry-run",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "xdg")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "scorers:    length" in done.stdout


def test_a_list_of_what_is_known_is_told_once() -> None:
    """A hint that lists what was expected anyway is left out; one that names the nearest word stays."""
    same = Problem(where="x", expected="one of a, b", found="q", hint="known: a, b")
    assert str(same) == "x: expected one of a, b, found q"
    nearest = Problem(where="x", expected="one of a, b", found="aa", hint="did you mean a?")
    assert str(nearest) == "x: expected one of a, b, found aa (did you mean a?)"
    assert str(Problem(where="x", hint="known: a, b")) == "x (known: a, b)"
