from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.catalog.peer_config import PeerConfig, read_peer_config
from skilleval.errors import CatalogError

WHOLE = """
root: ./skills
workspace: ./out
baseline: true
target: gpt-4o-mini
judge: gpt-4o
baseUrl: http://127.0.0.1:8000/v1
apiKeyEnv: MY_KEY
include: ["tide"]
exclude: ["draft-*"]
concurrency: 8
strict: true
targetParams: {temperature: 0}
judgeParams: {temperature: 1}
report: {enabled: true, title: Tides}
logging: {format: jsonl, verbose: false, file: events.jsonl, color: auto}
"""


def test_each_key_becomes_one_of_ours(tmp_path: Path) -> None:
    """What the other tool's file says is said in our settings, with plain values and nothing lost."""
    path = tmp_path / "agent-skills-eval.yaml"
    path.write_text(WHOLE)
    assert read_peer_config(path) == PeerConfig(
        settings={
            "skill_set.paths": ["./skills"],
            "paths.output_dir": "./out",
            "skill_set.modes": ["with_skill", "without_skill"],
            "model.name": "gpt-4o-mini",
            "judge.name": "gpt-4o",
            "model.base_url": "http://127.0.0.1:8000/v1",
            "model.api_key_env": "MY_KEY",
            "skill_set.include": ["tide"],
            "skill_set.exclude": ["draft-*"],
            "runner.concurrency": 8,
            "skill_set.strict": True,
            "model.params": {"temperature": 0},
            "scorers.task.evals.llm_judge.params": {"temperature": 1},
            "report.title": "Tides",
        },
        logging={"log_format": "jsonl", "log_file": "events.jsonl"},
        notices=(),
    )


def test_json_and_an_empty_file_are_read(tmp_path: Path) -> None:
    """A file that is called JSON is read as such, and nothing said is nothing set."""
    path = tmp_path / "a.json"
    path.write_text('{"baseline": false}')
    assert read_peer_config(path).settings == {"skill_set.modes": ["with_skill"]}
    (tmp_path / "a.yaml").write_text("# nothing\n")
    assert read_peer_config(tmp_path / "a.yaml") == PeerConfig()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("layout: flat", "layout"),
        ("report: false", "report.enabled"),
        ("report: {output: x}", "report.output"),
        ("logging: {color: true}", "logging.color"),
        ("logging: {verbose: true}", "logging.verbose"),
        ("logging: {snippetLength: 5}", "logging.snippetLength"),
    ],
)
def test_what_has_no_place_here_is_a_notice(text: str, key: str, tmp_path: Path) -> None:
    """Nothing is dropped silently: a notice says how it is done here."""
    path = tmp_path / "a.yaml"
    path.write_text(text)
    reading = read_peer_config(path)
    (notice,) = reading.notices
    assert notice.startswith(f"{path}: {key}: without effect: ")
    assert (reading.settings, reading.logging) == ({}, {})


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("concurency: 4", "concurency", "did you mean concurrency?"),
        ("base_url: x", "base_url", "did you mean baseUrl?"),
        ("report: {titel: x}", "report.titel", "did you mean title?"),
        ("concurrency: 4abc", "concurrency", "a whole number from 1"),
        ("concurrency: 0", "concurrency", "a whole number from 1"),
        ("baseline: 'yes'", "baseline", "true or false"),
        ("include: tide", "include", "a list of texts"),
        ("targetParams: []", "targetParams", "an object"),
        ("logging: {format: loud}", "logging.format", "one of pretty, jsonl, silent"),
        ("report: 3", "report", "true, false or an object"),
        ("target:", "target", "a text"),
    ],
)
def test_ae20_unknown_keys_and_other_types_are_refused(
    text: str, key: str, said: str, tmp_path: Path
) -> None:
    """A slip is named with its place and what would be right."""
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(CatalogError) as caught:
        read_peer_config(path)
    (problem,) = caught.value.problems
    assert (problem.where, problem.key) == (str(path), key)
    assert said in {problem.expected, problem.hint}


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    """One mistake does not hide another, and a list is no configuration."""
    path = tmp_path / "a.yaml"
    path.write_text("root: 1\nbasline: true\nlogging: {fil: x}\n")
    with pytest.raises(CatalogError) as caught:
        read_peer_config(path)
    assert [problem.key for problem in caught.value.problems] == ["root", "basline", "logging.fil"]
    path.write_text("- a\n")
    with pytest.raises(CatalogError, match="an object"):
        read_peer_config(path)
