"""`skilleval config` as a user runs it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cli.conftest import SCRIPT, Run


def test_layers_win_in_order(run: Run, folder: Path, tmp_path: Path) -> None:
    """Command line over project file over user file over shipped defaults, merged deeply."""
    user = tmp_path / "xdg" / "skilleval"
    user.mkdir(parents=True)
    (user / "config.yaml").write_text("runner: {repeats: 2, retries: 5}\n")
    (folder / "skilleval.yaml").write_text("runner: {repeats: 3}\n")
    listed = run("config", "list", "runner.concurrency=9", "skill_set=examples", "--json").document
    found = {one["key"]: (one["value"], one["layer"]) for one in listed}
    assert found["runner.repeats"] == (3, "project file")
    assert found["runner.retries"] == (5, "user file")
    assert found["runner.concurrency"] == (9, "command line")
    assert found["runner.jitter"][1] == "shipped"


def test_where_names_every_layer_of_a_key(run: Run, folder: Path) -> None:
    """The shipped value and the one of the project file are both shown, the winner last."""
    (folder / "skilleval.yaml").write_text("runner: {repeats: 3}\n")
    said = run("config", "where", "runner.repeats", "--json").document
    assert [(one["layer"], one["value"]) for one in said] == [("shipped", 1), ("project file", 3)]
    assert said[-1]["source"].endswith("skilleval.yaml")


def test_set_keeps_comments_and_refuses_nonsense(run: Run, folder: Path) -> None:
    """A right value is written, a wrong one leaves the file as it was."""
    file = folder / "skilleval.yaml"
    file.write_text("# ours\nrunner:\n  repeats: 3  # three\n")
    assert run("config", "set", "--project", "runner.repeats", "4").code == 0
    assert file.read_text() == "# ours\nrunner:\n  repeats: 4  # three\n"
    assert run("config", "get", "runner.repeats").out == "4\n"
    for key, value in (("runner.repeatz", "1"), ("runner.repeats", "0"), ("runner.repeats", "many")):
        refused = run("config", "set", "--project", key, value)
        assert refused.code == 2
        assert "error" in refused.err
        assert "repeats: 4" in file.read_text()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (
            "report.formats",
            "[json, pdf]",
            "expected one of comment, csv, github, html, json, junit, latex, markdown, notebook, found pdf",
        ),
        ("privacy.redact", '["("]', "expected a regular expression"),
        ("scorer", "[exact, exact]", "expected each option once"),
        ("scorers.task.regex.timeout_ms", "0", "a number greater than 0"),
        ("benchmark.name", "coding-eazy", "did you mean coding-easy?"),
        ("analysis.composite", "{completion: 1e308, partial: 1e308}", "finite"),
        ("", "3", "there is no such setting"),
    ],
)
def test_what_every_run_would_refuse_is_refused_when_it_is_set(
    run: Run, folder: Path, key: str, value: str, said: str
) -> None:
    """Formats, patterns, options of scorers and benchmarks are checked before the file is written."""
    refused = run("config", "set", "--project", key, value)
    assert refused.code == 2
    assert said in refused.err
    assert not (folder / "skilleval.yaml").exists()


def test_the_benchmark_of_another_project_may_stand_in_the_user_file(run: Run) -> None:
    """The user's file holds everywhere: a benchmark that is not here may be there."""
    assert run("config", "set", "benchmark.name", "elsewhere").code == 0


def test_set_writes_the_user_file_by_default(run: Run, tmp_path: Path) -> None:
    """Without --project the setting holds in every project."""
    assert run("config", "set", "report.formats", "[json, html]").code == 0
    assert (tmp_path / "xdg" / "skilleval" / "config.yaml").is_file()
    assert run("config", "get", "report.formats", "--json").document["value"] == ["json", "html"]


def test_a_config_file_replaces_the_project_file(run: Run, folder: Path) -> None:
    """-c FILE is read instead of skilleval.yaml, wherever it is said."""
    (folder / "skilleval.yaml").write_text("runner: {repeats: 3}\n")
    (folder / "other.yaml").write_text("runner: {repeats: 4}\n")
    assert run("-c", "other.yaml", "config", "get", "runner.repeats").out == "4\n"
    assert run("config", "get", "runner.repeats", "-c", "other.yaml").out == "4\n"
    assert run("config", "get", "runner.repeats", "-c", "absent.yaml").code == 2


def test_a_conf_folder_overrides_and_extends_the_shipped_groups(run: Run, folder: Path) -> None:
    """A file of a shipped name changes what it says and no more, and a new one is a new choice."""
    runner = folder / "conf" / "runner"
    runner.mkdir(parents=True)
    (runner / "default.yaml").write_text("repeats: 7\n")
    (runner / "long.yaml").write_text("defaults: [default, _self_]\nrepeats: 50\n")
    listed = run("config", "get", "runner", "--json").document
    found = {one["key"]: (one["value"], one["layer"]) for one in listed}
    assert found["runner.repeats"] == (7, "project conf")
    assert found["runner.concurrency"] == (4, "shipped")
    assert run("config", "get", "runner.repeats", "runner=long").out == "50\n"


def test_settings_are_whole_lines_where_nobody_watches(run: Run, folder: Path) -> None:
    """Piped, each setting is one line with tabs between, short sources and nothing cut, for `grep` and `cut`."""
    long = "a/" * 100
    (folder / "skilleval.yaml").write_text(
        f"skill_set: {{paths: ['{long}']}}\nreport: {{title: \"a\\nb\"}}\n"
    )
    listed = run("config", "list", "runner.repeats=3")
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in listed.out.splitlines()}
    assert lines["skill_set.paths"] == [f'["{long}"]', "project file", "skilleval.yaml"]
    assert lines["runner.jitter"] == ["0.5", "shipped", "shipped:runner/default.yaml"]
    assert lines["runner.repeats"] == ["3", "command line", "runner.repeats=3"]
    assert lines["benchmark.name"][2] == "shipped:benchmarks/coding-easy/benchmark.json"
    assert lines["report.title"][0] == '"a\\nb"'


def test_a_terminal_gets_a_table_in_which_nothing_is_cut(
    folder: Path, environment: Mapping[str, str]
) -> None:
    """On a narrow terminal values are folded, not shortened."""
    (folder / "skilleval.yaml").write_text(f"skill_set: {{paths: ['{'x' * 150}']}}\n")
    here, there = pty.openpty()
    command = [str(SCRIPT), "config", "get", "skill_set"]
    child = subprocess.Popen(command, cwd=folder, env={**environment, "COLUMNS": "80"}, stdout=there)
    os.close(there)
    written = b"".join(_blocks(here)).decode()
    assert child.wait(timeout=60) == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", written).splitlines()
    assert sum(line.count("x") for line in lines) >= 150
    assert not any("…" in line for line in lines)
    assert max(len(line) for line in lines) <= 80
    assert lines[0].split() == ["setting", "value", "layer", "source"]


def _blocks(terminal: int) -> Iterator[bytes]:
    """Give what is written to a terminal until it is closed."""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:  # how Linux says that nobody writes any more
            break
        if not block:
            break
        yield block
    os.close(terminal)


def test_a_group_is_set_looked_up_and_unset(run: Run, folder: Path) -> None:
    """A choice is written as a choice, shown with its layer, and taken back."""
    file = folder / "skilleval.yaml"
    file.write_text("# ours\n")
    assert run("config", "set", "--project", "scorer", "[exact, contains]").code == 0
    assert file.read_text() == "# ours\ndefaults:\n  - override /scorer: [exact, contains]\n"
    assert run("config", "get", "scorer").out == '["exact", "contains"]\n'
    assert run("config", "where", "scorer").out.splitlines() == [
        "scorer\ttask\tshipped\tshipped:eval.yaml",
        'scorer\t["exact", "contains"]\tproject file\tskilleval.yaml',
    ]
    refused = run("config", "set", "--project", "scorer", "exakt")
    assert refused.code == 2
    assert "did you mean exact?" in refused.err
    assert run("config", "unset", "--project", "scorer").code == 0
    assert file.read_text() == "# ours\n"
    assert run("config", "get", "scorer").out == "task\n"


def test_a_key_is_unset_in_the_user_file_by_default(run: Run, folder: Path, tmp_path: Path) -> None:
    """`unset` undoes `set`; what is not there cannot be taken out."""
    assert run("config", "set", "runner.repeats", "4").code == 0
    assert run("config", "unset", "--project", "runner.repeats").code == 2
    done = run("config", "unset", "runner.repeats", "--json")
    file = tmp_path / "xdg" / "skilleval" / "config.yaml"
    assert done.document == {"key": "runner.repeats", "file": str(file)}
    assert file.read_text() == ""
    assert not (folder / "skilleval.yaml").exists()


def test_a_setting_that_is_overridden_is_checked_all_the_same(run: Run, folder: Path, tmp_path: Path) -> None:
    """A wrong value in the user file is refused although the project file wins."""
    (folder / "skilleval.yaml").write_text("runner: {repeats: 3}\n")
    refused = run("config", "set", "runner.repeats", "five")
    assert refused.code == 2
    assert 'expected a whole number, found "five"' in refused.err
    assert not (tmp_path / "xdg" / "skilleval" / "config.yaml").exists()


def test_an_unknown_key_names_the_nearest(run: Run) -> None:
    """A misspelt key is answered with the right one."""
    done = run("config", "get", "runner.repeat")
    assert done.code == 2
    assert "repeats" in done.err


def test_hydra_prints_what_it_composed(run: Run) -> None:
    """--cfg and --info pass through to Hydra."""
    shown = run("eval", "--skills", "x", "runner.repeats=3", "--cfg", "job")
    assert shown.code == 0, shown.err
    assert "repeats: 3" in shown.out
    assert "Config search path" in run("eval", "--skills", "x", "--info").out
