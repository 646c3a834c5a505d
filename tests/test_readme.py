"""Every command of the README runs as it stands there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from model_servers import ModelServer, model_server
from warm_program import WarmProgram

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


SCRIPTS = Path(sys.executable).parent


def shell(
    command: str, folder: Path, *, scripts: Path = SCRIPTS, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a line as the reader's shell would, with `skilleval` on the PATH."""
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(folder / "xdg"),
        **variables,
    }
    return subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, warm_program: WarmProgram) -> Path:
    """Walk the README's walk: write a skill, write tasks, evaluate; then sweep, and evaluate once more."""
    folder = tmp_path_factory.mktemp("reader")
    (walk,) = (
        block for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL) if "mkdir -p shout" in block
    )
    done = shell(walk, folder, scripts=warm_program.bin_folder())
    assert done.returncode == 0, done.stderr
    assert "INCONCLUSIVE" in done.stdout  # two tasks prove little, and the tool says so
    assert "shout" in done.stdout
    (sweep,) = (command for command in table_commands() if command.startswith("skilleval eval -m "))
    for command in (sweep, "skilleval eval ./shout --tasks tasks.json"):
        done = shell(command, folder, scripts=warm_program.bin_folder())
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def reader(walked: Path, tmp_path: Path) -> Path:
    """Give a copy of that folder: no test may need, or be hindered by, what another one did in it."""
    return Path(shutil.copytree(walked, tmp_path / "reader"))


def table_commands(heading: str = "write") -> list[str]:
    """Give the commands of a table, alternatives in one cell apart."""
    (table,) = re.findall(rf"\| you want to \| {heading} \|\n\|---\|---\|\n((?:\|.*\n)+)", README)
    cells = [line.split(" | ", maxsplit=1)[1].rstrip(" |\n") for line in table.splitlines()]
    return [
        command
        for cell in cells
        for command in re.findall(r"`([^`]+)`", cell)
        if " " in command or "=" in command or command.startswith("--")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWalk:
    """A folder in which the walk with a SKILL.md was walked, and the server that took the place of the provider."""

    folder: Path
    server: ModelServer

    def shell(self, command: str, *, scripts: Path) -> subprocess.CompletedProcess[str]:
        """Run a line with the keys of a reader, asking the server."""
        line = command.replace("http://127.0.0.1:8000/v1", self.server.base_url)
        keys = {"OPENAI_BASE_URL": self.server.base_url, "OPENAI_API_KEY": "none", "MY_KEY": "none"}
        return shell(line, self.folder, scripts=scripts, **keys)


@pytest.fixture(scope="module")
def skill_walk(tmp_path_factory: pytest.TempPathFactory, warm_program: WarmProgram) -> Iterator[SkillWalk]:
    """Walk the README's walk with a SKILL.md, then keep it in git twice, with what an old user would have beside it."""
    root = tmp_path_factory.mktemp("author")
    folder = root / "project"
    prices = root / "project" / "xdg" / "skilleval" / "config.yaml"
    prices.parent.mkdir(parents=True)
    price = {"input": 0.1, "output": 0.2}
    prices.write_text(json.dumps({"pricing": {"overrides": {"gpt-4o-mini": price, "gpt-4o": price}}}))
    (walk,) = (
        block for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL) if "mkdir -p skills" in block
    )
    with model_server(root) as server:
        walked = SkillWalk(folder=folder, server=server)
        done = walked.shell(walk, scripts=warm_program.bin_folder())
        assert done.returncode == 0, done.stderr
        assert "12 = 1 × 2 × 2 × 3 (skills × arms × tasks × repeats)" in done.stdout
        assert "What the skills add" in done.stdout
        keep = "git -c user.name=a -c user.email=a@b.example commit -qm kept"
        again = f"git add -A skills && {keep}"
        edit = "cp -r skills ../old-skills && echo 'Keep the words.' >> skills/tidy-dates/SKILL.md"
        kept = shell(f"git init -q . && {again} && {edit} && {again}", folder)
        assert kept.returncode == 0, kept.stderr
        theirs = {"root": "./skills", "target": "gpt-4o-mini", "baseline": True}
        (folder / "agent-skills-eval.yaml").write_text(
            json.dumps({**theirs, "targetParams": {"temperature": 0}})
        )
        yield walked


@pytest.mark.parametrize("words", table_commands("add"))
def test_what_the_readme_adds_to_the_evaluation_of_a_skill_md_runs(
    skill_walk: SkillWalk, warm_program: WarmProgram, words: str
) -> None:
    """Each line of the second table runs: words are added to the command above it, commands stand for themselves."""
    (base,) = re.findall(r"To `(skilleval eval \./skills [^`]+)`", README)
    command = words if words.startswith("skilleval ") else f"{base} {words}"
    done = skill_walk.shell(command, scripts=warm_program.bin_folder())
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "tidy-dates" in done.stdout


@pytest.mark.parametrize("command", table_commands())
def test_es34_each_command_of_the_readme_runs(reader: Path, warm_program: WarmProgram, command: str) -> None:
    """What the README shows exits 0; the shell-completion line is evaluated, not run through a reader."""
    if "<run_id>" in command:
        first = min((reader / "outputs" / "default").glob("2*/manifest.json")).parent.name
        command = command.replace("<run_id>", first)
    if command.startswith("skilleval config unset "):  # what it takes back was set by the command beside it
        (setting,) = (one for one in table_commands() if one.startswith("skilleval config set "))
        command = f"{setting} && {command}"
    done = shell(command, reader, scripts=warm_program.bin_folder())
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_created_skill_passes_until_it_is_broken(reader: Path, warm_program: WarmProgram) -> None:
    """The README's walk with a skill of one's own: create, evaluate, break, mend."""
    (walk,) = (
        one for one in re.findall(r"```bash\n(.*?)```", README, re.DOTALL) if "skilleval create" in one
    )
    create, evaluate = walk.strip().splitlines()
    gated = f"{evaluate} --exit-on-fail --min-completion 1"
    scripts = warm_program.bin_folder()
    assert shell(create, reader, scripts=scripts).returncode == 0
    assert shell(gated, reader, scripts=scripts).returncode == 0
    (program,) = (reader / "skills").glob("my-skill*/skill.py")
    right = program.read_text(encoding="utf-8")
    program.write_text("raise SystemExit('broken')\n", encoding="utf-8")
    assert shell(gated, reader, scripts=scripts).returncode == 3
    program.write_text(right, encoding="utf-8")
    assert shell(gated, reader, scripts=scripts).returncode == 0


def test_the_polars_snippet_runs(walked: Path) -> None:
    """The tables can be read as the README says."""
    (snippet,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", snippet], cwd=walked, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "shout" in done.stdout


def test_the_exit_codes_of_the_readme_are_those_of_the_program() -> None:
    """The table lists exactly the documented codes."""
    from skilleval.outcome import PRECEDENCE, ExitCode

    section = README.split("## Exit codes")[1].split("##")[0]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)} == {
        int(code) for code in ExitCode
    }
    assert ", ".join(str(int(code)) for code in PRECEDENCE[:-1]) in section


def test_the_words_and_marks_of_a_result_are_those_of_the_program() -> None:
    """Every verdict and every mark that a report can show is explained, with its own shape."""
    from skilleval.report.document import State
    from skilleval.report.facts import STATE_SHAPES
    from skilleval.report.flags import SHAPES, Kind

    section = README.split("## How to read a result")[1].split("\n## ")[0]
    words = set(re.findall(r"^\| (\S [A-Z]+) \|", section, re.MULTILINE))
    assert words == {f"{STATE_SHAPES[one]} {one.value.upper()}" for one in State if one is not State.INFO}
    marks = set(re.findall(r"^\| (\S) \|", section, re.MULTILINE))
    assert marks == {SHAPES[one] for one in Kind if one is not Kind.FINE}


def test_the_threshold_of_the_readme_is_the_shipped_one() -> None:
    """What the README says of the gate holds."""
    gate = (ROOT / "conf" / "gate" / "default.yaml").read_text(encoding="utf-8")
    assert "min_completion: 0.7" in gate
    assert "`--min-completion`, which is 0.7 unless" in README


def test_what_is_looked_for_in_the_clone_is_found_without_warnings() -> None:
    """A reader who tries `--skills-dir .` in the clone meets no problem with files of skilleval itself."""
    from skilleval.catalog.read import read_catalog

    found = [read_catalog([ROOT / name]) for name in ("skilleval", "examples", "tests")]
    problems = [problem for one in found for problem in one.problems if problem.found != "no skill.json"]
    assert problems == []


def test_every_linked_file_exists() -> None:
    """No link of the README is dead."""
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_faster_skill_of_the_readme_serves_many_trials(
    walked: Path, tmp_path: Path, warm_program: WarmProgram
) -> None:
    """The loop that the README shows passes both tasks in a worker, and in a process for each trial."""
    (block,) = (
        one for one in re.findall(r"```bash\n(.*?)```", README, re.DOTALL) if "isolation=worker" in one
    )
    shutil.copytree(walked / "shout", tmp_path / "shout")
    shutil.copy(walked / "tasks.json", tmp_path)
    for command in (block, "skilleval eval ./shout --tasks tasks.json"):
        done = shell(command, tmp_path, scripts=warm_program.bin_folder())
        assert done.returncode == 0, done.stderr
        assert "INCONCLUSIVE" in done.stdout
