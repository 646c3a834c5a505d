from __future__ import annotations

import json
import re

from papers import group, paper
from reports import CALCULATOR, HOSTILE, report_of

from skilleval.report.paper.document import Options
from skilleval.report.paper.files import folders_of, kit, options_of


def test_a_kit_is_whole() -> None:
    """Everything that the article takes up is there, and every macro in it has a number."""
    made = kit(paper())
    article = made.yours["main.tex"]
    for name in re.findall(r"\\input\{([^}]+)\}", article):
        assert f"{name}.tex" in made.texts
    for name in re.findall(r"\]\{figures/([^}]+)\.pdf\}", article):
        assert f"figures/{name}.vl.json" in made.texts
    macros = {one["macro"] for one in made.facts["numbers"]}
    assert set(re.findall(r"\\(eval[A-Z][A-Za-z]*)", article)) <= macros
    assert {"numbers.tex", "methods.tex", "references.bib", "reproduce.sh"} <= set(made.texts)


def test_a_kit_is_the_same_each_time() -> None:
    """Nothing in it depends on when or where it is made."""
    assert kit(paper()) == kit(paper())


def test_what_was_asked_for_is_read_back() -> None:
    """A kit can be made again from its `paper.json`."""
    facts = json.loads(kit(paper(title="T", scorer="task")).manifest)
    assert options_of(facts) == Options(title="T", scorer="task")
    ((run_id, folder, digests),) = folders_of(facts)
    assert (run_id, folder) == ("20260731T120000Z-4f2a00", "data/20260731T120000Z-4f2a00")
    assert digests == {"manifest.json": "0" * 64}


def test_foreign_text_is_inert_in_every_file() -> None:
    """No text of a kit has a command that a skill gave."""
    evil = r"\input{/etc/passwd}\write18{id}" + HOSTILE
    row = CALCULATOR | {"skill_id": evil, "scorer": evil, "model": evil}
    made = kit(paper(group(report_of(row), compared=(), name=evil, benchmark=evil), title=evil))
    for name, text in {**made.texts, **made.yours}.items():
        if name.endswith(".tex"):
            read = re.sub(r"(?<!\\)%.*", "", text)  # without comments, whose rest of the line TeX skips
            assert r"\write18" not in read
            assert r"\input{/etc" not in read
            assert text.isascii()
