from __future__ import annotations

import subprocess

import pytest
from papers import group, paper, source

from skilleval.report.paper.reproduction import reproduce_sh


def script(command: object) -> str:
    """Give the script of a run that was made by a command."""
    return reproduce_sh(paper(group(sources=(source(command=command),))))


def test_commands_stand_as_they_were_given() -> None:
    """The command of the run, quoted word by word."""
    assert "\nskilleval eval --benchmark 'a b' --runs 3 ||" in script(
        "skilleval eval --benchmark 'a b' --runs 3"
    )
    assert "\nskilleval eval --runs 3 ||" in script(["skilleval", "eval", "--runs", "3"])


def test_a_joined_run_is_made_again_from_its_parts() -> None:
    """The commands of the shards, then a merge of what they made; one part that is no command of ours spoils it."""
    parts = [{"command": f"skilleval eval plan.shards=2 plan.shard={shard}"} for shard in range(2)]
    made = source(command="skilleval merge 20260101T000000Z-abcdef", merged_from=parts)
    found = reproduce_sh(paper(group(sources=(made,))))
    commands = [line.partition(" ||")[0] for line in found.splitlines() if line.startswith("skilleval")]
    assert commands[:3] == [
        "skilleval eval plan.shards=2 plan.shard=0",
        "skilleval eval plan.shards=2 plan.shard=1",
        "skilleval merge $(ls -td outputs/*/*/ | head -n 2)",
    ]
    assert "abcdef" not in found
    broken = source(command="skilleval merge x", merged_from=[*parts, {"command": "rm -rf /"}])
    assert "does not say how it was made" in reproduce_sh(paper(group(sources=(broken,))))


@pytest.mark.parametrize(
    "command", ["rm -rf /", "skilleval 'open", "", None, "skilleval eval a\x1b[2J", "sh -c skilleval"]
)
def test_what_is_no_command_of_ours_is_not_run(command: str | None) -> None:
    """A manifest cannot make the script run another program."""
    found = script(command)
    assert "echo 'this run does not say how it was made' >&2; exit 2" in found
    assert "rm -rf" not in found


def test_words_cannot_leave_their_quotes() -> None:
    """What would mean something to a shell is a word of the command."""
    assert "\nskilleval eval '$(id)' ';' 'x`id`' ||" in script("skilleval eval '$(id)' ';' 'x`id`'")


@pytest.mark.parametrize("evil", ["1\nid >&2", "$(id)", "'; id; '"])
def test_names_cannot_leave_their_comments(evil: str) -> None:
    """No line but those of the script itself begins a command, and a shell can read all of it."""
    skills = [{"id": evil, "version": evil, "digest": evil}]
    made = source(evil, skills=skills, benchmark={"id": evil, "version": evil, "digest": evil})
    found = reproduce_sh(paper(group(sources=(made,))))
    assert not any(line.startswith("id") for line in found.splitlines())
    assert subprocess.run(["bash", "-n"], input=found, text=True, check=False, timeout=120).returncode == 0
