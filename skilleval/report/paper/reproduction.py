"""The script that makes a paper again: checks its numbers, or runs everything once more; foreign text stays quoted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.report.latex_text import comment
from skilleval.report.paper.document import Paper, Source
from skilleval.report.text import is_hidden

_PROGRAM = "skilleval"


def reproduce_sh(paper: Paper) -> str:
    """Write the script: without an argument it verifies, with `again` it runs the commands of all runs."""
    version = paper.versions.get(_PROGRAM, "")
    lines = [
        "#!/usr/bin/env bash",
        "# ./reproduce.sh         recompute every number of this paper from data/, and compare",
        "# ./reproduce.sh again   run everything once more, then compare what was run (digests) with what was run here",
        "set -euo pipefail",
        'cd "$(dirname "$0")"',
        "",
        f"WANTED={shlex.quote(version)}",
        'FOUND="$(skilleval --version 2>/dev/null | sed "s/.* //" || true)"',
        'if [ "$FOUND" != "$WANTED" ]; then',
        '  python3 -m venv .venv && .venv/bin/pip install --quiet "skilleval==$WANTED"',
        '  PATH="$PWD/.venv/bin:$PATH"',
        "fi",
        "",
        'if [ "${1:-}" != again ]; then',
        "  exec skilleval verify .",
        "fi",
        "",
        "# Commands stand as they were given, so they need the same skills and benchmarks in the working directory.",
        'PAPER="$PWD"',
        'cd "${PROJECT:-$OLDPWD}"',
        *(line for source in paper.sources for line in _again(source)),
        *_compared(paper),
    ]
    return "\n".join(lines) + "\n"


def _again(source: Source) -> Iterator[str]:
    yield ""
    yield f"# run {comment(source.run_id)}"
    for line in _facts(source.manifest):
        yield f"# {comment(line)}"
    parts = [one for one in source.manifest.get("merged_from") or () if isinstance(one, Mapping)]
    commands = [_command(one.get("command")) for one in parts or [source.manifest]]
    if not all(commands):
        yield "echo 'this run does not say how it was made' >&2; exit 2"
        return
    if (
        parts
    ):  # a run that was joined is made of the runs that its parts' commands make, wherever those come to lie
        commands.append(f"skilleval merge $({_newest(len(parts))})")
    for command in commands:
        yield f"{command} || [ $? -eq 1 ]  # 1: a gate was not met, which is a result"


def _facts(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Say what was evaluated, by digest."""
    benchmark = manifest.get("benchmark")
    if isinstance(benchmark, Mapping):
        name = f"{benchmark.get('id')}@{benchmark.get('version')}"
        yield f"benchmark {name}: SHA-256 {benchmark.get('digest')}"
    for skill in manifest.get("skills") or ():
        if isinstance(skill, Mapping):
            yield f"skill {skill.get('id')} {skill.get('version')}: SHA-256 {skill.get('digest')}"


def _command(said: object) -> str | None:
    """Quote a command word by word; null for one that is no command of ours, or holds what cannot be seen."""
    try:
        found = [str(word) for word in said] if isinstance(said, list) else shlex.split(str(said or ""))
    except ValueError:
        return None
    if not found or found[0] != _PROGRAM or any(is_hidden(one) for word in found for one in word):
        return None
    return shlex.join(found)


def _compared(paper: Paper) -> Iterator[str]:
    n = len(paper.sources)
    yield ""
    yield "# The newest runs against those of the paper: same benchmark, skills and scorers, by digest and version."
    yield f"AGAIN=$({_newest(n)})"
    yield 'skilleval verify "$PAPER" $(printf -- "--again %s " $AGAIN)'


def _newest(n: int) -> str:
    """Give the command that lists the folders of the newest runs."""
    return f"ls -td outputs/*/*/ | head -n {n}"
