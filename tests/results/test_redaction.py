"""What must not be stored is taken out before a row is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from records import record_of

from skilleval.adapters.token import STARS, Token
from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status
from skilleval.errors import ConfigError
from skilleval.results.journal import Journal
from skilleval.results.redaction import MARK, Redactor
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TABLES
from skilleval.results.store import compact, create_run, journal_path, scan_table

ADDRESS = "jane@example.org"


def test_no_table_holds_what_a_pattern_matches(tmp_path: Path) -> None:
    """An address is gone from every column, also where a server names its model; the JSON around it is whole."""
    reply = Reply(
        status=Status.COMPLETED,
        output=json.dumps({"result": f'mail "{ADDRESS}"', ADDRESS: [ADDRESS]}),
        stderr=f"sent to {ADDRESS}",
        message=ADDRESS,
        response_model=f"model of {ADDRESS}",
    )
    redactor = Redactor([r"\w+@[\w.]+"])
    folder = create_run(tmp_path, "r1")
    journal = Journal(
        journal_path(folder), RowBuilder(run_id="r1", sweep_id=None, redactor=redactor), Clock()
    )
    journal.write(record_of([reply], 0))
    journal.close()
    assert ADDRESS.encode() not in journal.path.read_bytes()
    compact(folder)
    for table in TABLES.values():
        assert ADDRESS not in str(scan_table(folder, table).collect().to_dicts())
    output = scan_table(folder, TABLES["trials"]).collect()["output"].item()
    assert json.loads(output) == {"result": f'mail "{MARK}"', MARK: [MARK]}
    assert redactor.n_redacted >= 5


def test_without_patterns_nothing_is_touched() -> None:
    """The line is given as it is."""
    line: dict[str, Any] = {"trial": {}, "tries": [], "scores": []}
    assert Redactor([]).line(line) is line


@pytest.mark.parametrize("pattern", ["(", "a*", ""])
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str) -> None:
    """A broken pattern and one that matches everywhere are errors before the run."""
    with pytest.raises(ConfigError, match=r"privacy\.redact\[0\]"):
        Redactor([pattern])


SPELLED = ["SEC\nRET-1", 'k"ey"-7712', "café-9981", "SECRET-12345678", "a\\b-1"]
PATTERNS = [r"SEC\nRET-\d", r'k"ey"-\d+', r"café-\d+", r"SECRET-\d+", r"a\\b-\d", r"\d{16}"]


def told(secret: str, *, length: int) -> dict[str, Any]:
    """Give the line of a trial that tells of a secret in every way that skills and scorers have."""
    said = f"x {secret} y"
    ascii_json, repr_ = json.dumps({"m": said}), repr({"m": said})
    return {
        "trial": {
            "input": json.dumps({"v": said}),
            "expected": json.dumps({"value": secret}),
            "task_id": "t",
        },
        "tries": [
            {
                "output": json.dumps({"nested": ascii_json, secret: [said]}),
                "message": f"ValueError: {ascii_json[:length]}",
                "stdout": f"{ascii_json} {repr_}",
                "stderr": f"Traceback\n{said}\n{json.dumps(ascii_json)}",
            }
        ],
        "scores": [
            {
                "reason": f"expected {ascii_json[:length]}… (99 characters), found {repr_[:length]}…",
                "evidence": f"{json.dumps(said, ensure_ascii=False)[:length]}… (99 characters)",
                "check": "value",
            }
        ],
    }


@pytest.mark.parametrize("length", range(8, 30))
@pytest.mark.parametrize("secret", SPELLED)
def test_no_spelling_and_no_part_of_a_secret_is_stored(secret: str, length: int) -> None:
    """In JSON with and without ASCII, within JSON, in a `repr`, and wherever a text was cut before."""
    line = Redactor(PATTERNS).line(told(secret, length=length))
    assert not [
        part
        for text in json.dumps(line, ensure_ascii=False).split(MARK)
        for n in range(len(secret) - 3)
        if (part := secret[n : n + 4]) in text or json.dumps(part)[1:-1] in text
    ]
    output = json.loads(line["tries"][0]["output"])
    assert output == {"nested": f'{{"m": "x {MARK} y"}}', MARK: [f"x {MARK} y"]}


def test_numbers_are_seen_as_they_are_written() -> None:
    """A number that a pattern matches becomes a text; other numbers, and truth, stay what they are."""
    line = told("none", length=20)
    line["tries"][0]["output"] = json.dumps({"card": 4111222233334444, "n": [4111, 1.5, True, None]})
    line["scores"][0]["reason"] = 'found {"card": 41112222333… (50 characters)'
    redacted = Redactor(PATTERNS).line(line)
    assert json.loads(redacted["tries"][0]["output"]) == {"card": MARK, "n": [4111, 1.5, True, None]}
    assert redacted["scores"][0]["reason"] == f'found {{"card": {MARK}… (50 characters)'


def test_keys_that_come_out_equal_lose_no_value() -> None:
    """Two secret keys of one object are told apart by a number."""
    line = told("none", length=20)
    line["tries"][0]["output"] = json.dumps({"SECRET-1": 1, "SECRET-2": 2, MARK: 3})
    output = json.loads(Redactor(PATTERNS).line(line)["tries"][0]["output"])
    assert output == {MARK: 1, f"{MARK} 2": 2, f"{MARK} 3": 3}


def test_what_no_pattern_matches_is_not_changed() -> None:
    """Texts with escapes, cuts and marks of their own come out as they went in."""
    line = told("nothing", length=12)
    redactor = Redactor(PATTERNS)
    redacted = redactor.line(line)
    assert (redacted["scores"], redactor.n_redacted) == (line["scores"], 0)
    assert [json.loads(row["output"]) for row in redacted["tries"]] == [
        json.loads(row["output"]) for row in line["tries"]
    ]


KEYS = ["zq-hunter-5577", "a/b c+d-99", "café-9981-ü", "-- BEGIN --\nabcdef-1234", 'k"ey"-77123']


@pytest.mark.parametrize("key", KEYS)
def test_what_is_hidden_leaves_no_spelling_and_is_not_counted(key: str) -> None:
    """Known keys are taken out in JSON, in a `repr`, percent-encoded and where a text was cut; JSON stays whole."""
    redactor = Redactor([], [Token(key)])
    told_ = told(key, length=8 + len(key))
    told_["tries"][0]["stdout"] += f" {quote(key, safe='')} {key!a} {key.encode()!r}"
    line = redactor.line(told_)
    rest = json.dumps(line, ensure_ascii=False)
    spelled = {key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1], quote(key, safe="")}
    assert [one for one in spelled | {one[:6] for one in spelled} if one in rest] == []
    assert json.loads(line["tries"][0]["output"])[STARS] == [f"x {STARS} y"]
    assert redactor.n_redacted == 0


def test_a_key_goes_before_the_patterns_see_it() -> None:
    """A pattern that matches only a part of a key leaves nothing of the rest."""
    line = told("SECRET-1-the-rest", length=60)
    redacted = Redactor([r"SECRET-\d"], [Token("SECRET-1-the-rest")]).line(line)
    assert "the-rest" not in json.dumps(redacted)
