"""`skilleval config` through the installed console script."""

from __future__ import annotations

from pathlib import Path

from cli.conftest import Run


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
    """A file of a shipped name wins, and a new one is a new choice."""
    runner = folder / "conf" / "runner"
    runner.mkdir(parents=True)
    shipped = "{repeats: %d, concurrency: 1, timeout_ms: 1000, retries: 0, backoff_base_s: 1.0, backoff_factor: 2.0,"
    rest = " backoff_max_s: 9.0, jitter: 0.5, seed: 0}\n"
    (runner / "default.yaml").write_text(shipped % 7 + rest)
    (runner / "long.yaml").write_text(shipped % 50 + rest)
    assert run("config", "get", "runner.repeats").out == "7\n"
    assert run("config", "get", "runner.repeats", "runner=long").out == "50\n"


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
