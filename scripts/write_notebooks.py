"""Write the example notebooks anew, or check that they are current.

They are made of recorded attempts (`notebooks/recorded.jsonl`), so that latencies too are the same each time; what
skills add is asked of the scripted model, whose answers are the same each time, and whose times are set afterwards.
`--check` writes nothing and exits 1 if a notebook is not current: its cells must be those that the templates give now,
and its outputs those that executing them gives now. Ids and times of the runs are not compared. `--record RUN` makes
the recording of a stored run of the demo.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import skilleval
from skilleval.app.analyse import analyse
from skilleval.app.notebooks import NotebookOptions, write_diff_notebook, write_notebook

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ROOT / "notebooks"
RECORDED = NOTEBOOKS / "recorded.jsonl"
RUNS = Path("outputs") / "notebooks"
FLAKY, RIGHT = "flaky-calculator", "calculator"
MAX_BYTES = 300_000
MS_A_TOKEN = 20.0
_PICTURES = {"image/svg+xml"}
_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?")


def record(run: skilleval.Run) -> Iterator[str]:
    """Give the attempts of a run as lines that `adapter=replay` takes, latencies rounded to 10 µs."""
    for row in run.trials().sort("skill_id", "task_id", "repeat").collect().iter_rows(named=True):
        line = {key: row[key] for key in ("skill_id", "task_id", "repeat", "status")}
        answer = {} if row["output"] is None else {"output": json.loads(row["output"])}
        yield json.dumps({**line, **answer, "latency_ms": round(row["latency_ms"], 2)}, ensure_ascii=False)


def mended(lines: list[str]) -> Iterator[str]:
    """Let the flaky skill answer as the right one does: the candidate of the comparison."""
    right = {}
    for line in map(json.loads, lines):
        if line["skill_id"] == RIGHT:
            right[line["task_id"], line["repeat"]] = line
    for line in map(json.loads, lines):
        taken = right[line["task_id"], line["repeat"]] if line["skill_id"] == FLAKY else line
        yield json.dumps({**taken, "skill_id": line["skill_id"]}, ensure_ascii=False)


def replayed(folder: Path, name: str, lines: list[str], *overrides: str) -> Path:
    """Run the demo on recorded attempts, and keep the run under a name instead of its id."""
    recording = folder / "recorded.jsonl"  # one file for all, so that runs do not differ in where theirs is
    recording.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = [
        "+experiment=demo",
        "adapter=replay",
        f"adapter.path={recording}",
        "sandbox=none",
        f"paths.output_dir={folder / 'new'}",
        f"paths.cache={folder / 'cache'}",
        "report.formats=[]",
        *overrides,
    ]
    return kept(skilleval.evaluate(settings, project=ROOT).folder, folder / name)


def kept(made: Path, place: Path) -> Path:
    """Put a run in a place that does not depend on its id."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.move(made, place)
    return place


def with_arms(folder: Path, name: str) -> Path:
    """Ask the scripted model with each example skill and without it, as `make demo-llm` does, and keep the run."""
    with scripted_model() as url:
        settings = [
            "skill_set=examples_md",
            "skill_set.modes=[with_skill,without_skill]",
            "model=local",
            f"model.base_url={url}",
            "runner.repeats=3",
            "runner.concurrency=1",  # which request finds the start of another one cached is a matter of their order
            f"paths.output_dir={folder / 'new'}",
            f"paths.cache={folder / 'cache'}",
            "report.formats=[]",
        ]
        made = skilleval.evaluate(settings, project=ROOT).folder
    set_times(made)
    return kept(made, folder / name)


@contextmanager
def scripted_model() -> Iterator[str]:
    """Serve the scripted model on this machine; give its address."""
    command = [sys.executable, str(ROOT / "scripts" / "model_server.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[1]
        finally:
            server.terminate()


def set_times(run: Path) -> None:
    """Give every attempt the time that its answer would take, by its length: measured, it differs each time."""
    for path in sorted(path for table in ("trials", "tries") for path in (run / table).glob("*.parquet")):
        rows = pq.read_table(path)
        times = [None if n is None else n * MS_A_TOKEN for n in rows["output_tokens"].to_pylist()]
        at = rows.schema.get_field_index("latency_ms")
        pq.write_table(rows.set_column(at, rows.schema.field(at), pa.array(times, pa.float64())), path)


def write(notebooks: Path, runs: Path) -> dict[str, Path]:
    """Make the runs and write every notebook about them."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    runs.mkdir(parents=True, exist_ok=True)
    demo = replayed(runs, "demo", lines)
    scorers = replayed(runs, "scorers", lines, "scorer=[task,contains]")
    candidate = replayed(runs, "mended", list(mended(lines)))
    arms = with_arms(runs, "arms")
    paths = {name: notebooks / f"{name}.ipynb" for name in ("run", "scorers", "uplift", "paper", "compare")}
    for name, run in {"run": demo, "scorers": scorers, "uplift": arms, "paper": demo}.items():
        write_notebook(analyse(run), paths[name], rows=run, options=NotebookOptions(template=name))
    write_diff_notebook(paths["compare"], baseline=demo, candidate=candidate, options=NotebookOptions())
    return paths


def compared(path: Path) -> Any:
    """Give what must be the same in two notebooks: cells and outputs, without ids and times of runs.

    Of a picture only that it is there: how wide its letters are depends on the fonts of a machine.
    """
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(_MOMENT.sub("(time)", _RUN_ID.sub("(run)", text)))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            output.get("data", {}).update(dict.fromkeys(_PICTURES & output.get("data", {}).keys()))
    return [{key: cell.get(key) for key in ("id", "source", "outputs")} for cell in notebook["cells"]]


def differing(old: Path, new: Path) -> str | None:
    """Say what is not current in a notebook: null where nothing is."""
    if not old.is_file():
        return "is missing"
    if old.stat().st_size > MAX_BYTES:
        return f"is larger than {MAX_BYTES} bytes"
    mine, theirs = compared(old), compared(new)
    ids = [cell["id"] for cell, other in zip(mine, theirs, strict=False) if cell != other]
    return f"differs in {', '.join(ids)}" if ids or len(mine) != len(theirs) else None


def check() -> int:
    """Write the notebooks elsewhere and compare."""
    with tempfile.TemporaryDirectory() as scratch:
        # The same two levels, so that the runs are seen from the notebooks in the same way.
        made = write(Path(scratch) / "notebooks", Path(scratch) / RUNS)
        stale = {name: said for name, new in made.items() if (said := differing(NOTEBOOKS / new.name, new))}
    for name, said in stale.items():
        print(f"notebooks/{name}.ipynb {said}: make notebooks", file=sys.stderr)
    return 1 if stale else 0


def main() -> None:
    """Write, check or record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", metavar="RUN")
    options = parser.parse_args()
    if options.record:
        lines = record(skilleval.open_run(options.record))
        RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif options.check:
        sys.exit(check())
    else:
        for path in write(NOTEBOOKS, ROOT / RUNS).values():
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
