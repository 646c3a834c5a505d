"""Every format of a report, and the kit of a paper, on an imported public run.

Run with `SKILLEVAL_CORPORA=<folder> pytest -m corpora`, or `make test-corpora CORPORA=<folder>`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilleval.app.analyse import analyse
from skilleval.app.convert import convert_report
from skilleval.app.importing import find_source, import_results
from skilleval.app.notebooks import NotebookOptions
from skilleval.app.paper import write_paper
from skilleval.app.verify import verify
from skilleval.config.compose import compose_settings
from skilleval.report import WRITERS
from skilleval.report.paper.document import Options
from skilleval.results.importers.base import ImportOptions

pytestmark = pytest.mark.corpora

FIXED_BYTES, BYTES_A_TRIAL = 3 * 1024**2, 1024


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the eight files of evos-skills: skills with and without, judged by a rubric."""
    corpora = os.environ.get("SKILLEVAL_CORPORA")
    if not corpora:
        pytest.fail("set SKILLEVAL_CORPORA to the folder of the corpora, or leave out -m corpora")
    folder = tmp_path_factory.mktemp("evos")
    needed = ("skill_set.paths=[s]", "benchmark.name=imported", f"paths.output_dir={folder}")
    composed = compose_settings(needed, project=folder)
    source = find_source(Path(corpora) / "results" / "evos-skills" / "raw")
    (imported,) = import_results(source, ImportOptions(), composed=composed, command="")
    return imported.folder


def test_an_imported_run_is_written_in_every_format(run: Path, tmp_path: Path) -> None:
    """Each format comes out, an executed notebook too, and the page keeps to its size."""
    written = convert_report(
        str(run), formats=tuple(WRITERS), output=tmp_path, store=tmp_path, notebook=NotebookOptions()
    )
    assert set(written) == set(WRITERS)
    assert all(path.stat().st_size for path in written.values())
    n_trials = analyse(run).run.n_trials
    assert n_trials is not None
    assert written["html"].stat().st_size <= FIXED_BYTES + BYTES_A_TRIAL * n_trials


def test_a_paper_on_an_imported_run_verifies(run: Path, tmp_path: Path) -> None:
    """The kit of a run with arms has its uplift, and holds against the rows it was made from."""
    out = tmp_path / "paper"
    write_paper([str(run)], store=tmp_path, out=out, options=Options())
    assert list((out / "tables").glob("*uplift*.tex"))
    assert verify(out, store=tmp_path).differences == ()
