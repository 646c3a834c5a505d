from __future__ import annotations

import base64
import gzip
import json
import random
import string
from dataclasses import replace
from typing import Any

import pytest
from details import check, excerpt, report_with, trial

from skilleval.report.details import ConditionDetail, TaskDetail, TrialDetail, TryDetail, Turn
from skilleval.report.document import Report
from skilleval.report.drawer import TRIALS_A_BLOCK, drawer_blocks, size_allowed
from skilleval.report.excerpt import Excerpt
from skilleval.report.html_environment import environment

SIGNS = string.ascii_letters + string.digits + string.punctuation + "äöüß語漢字仮名"
NOISE = "".join(random.Random(0).choices(SIGNS, k=1_000_000))
"""Much longer than what a compressor looks back at, so that pieces of it are as good as new."""
HOSTILE = ["</script><script>", "a\u2028b", "\u202egnp", "\x00", "x" * 1_000_000]


def unpacked(block: str) -> Any:
    """Give what a block holds."""
    return json.loads(gzip.decompress(base64.b64decode(block)))


def shown(report: Report) -> list[tuple[int, int, dict[str, Any]]]:
    """Give all trials of a drawer as position of the task, of the condition, and row with its texts put in."""
    found = []
    for block in map(unpacked, drawer_blocks(report)[1:]):
        for task, condition, row in block["trials"]:
            texts = {name: block["texts"][at] for name, at in row.items() if name in {"output", "stderr"}}
            found.append((task, condition, row | texts))
    return found


def test_a_report_without_trials_has_no_drawer() -> None:
    """Nothing is packed where nothing can be opened, and the page gets no dialog."""
    assert drawer_blocks(replace(report_with(trial()), details=None)) == ()
    assert environment().get_template("drawer.html.j2").module.dialog(()).strip() == ""  # type: ignore[attr-defined]


def test_the_index_says_where_a_task_is() -> None:
    """Every task leads to the blocks that hold its trials, also one that fills more than one."""
    trials = [trial(f"t{i}", repeat=r) for i, n in enumerate((60, 30, 200, 1)) for r in range(n)]
    blocks = drawer_blocks(report_with(*trials, n_trials=1000))
    index = unpacked(blocks[0])
    assert [name for name, _ in index["tasks"]] == ["t0", "t1", "t2", "t3"]
    assert index["conditions"] == [["skill-c0", "1.0.0"]]
    assert (index["shown"], index["trials"]) == (291, 1000)
    for task, (first, last) in enumerate(index["blocks"]):
        held = [unpacked(block) for block in blocks[first : last + 1]]
        assert sum(row[0] == task for block in held for row in block["trials"]) == (60, 30, 200, 1)[task]
        assert all(str(task) in block["tasks"] for block in held)
    assert all(len(unpacked(block)["trials"]) <= TRIALS_A_BLOCK for block in blocks[1:])


def test_a_text_that_repeats_is_stored_once() -> None:
    """Equal outputs of a block share a place; a cut text does not pass for a whole one of the same beginning."""
    whole, cut = excerpt("same"), excerpt("same", 9000)
    report = report_with(*(trial(repeat=i, output=text) for i, text in enumerate((whole, whole, cut))))
    block = unpacked(drawer_blocks(report)[1])
    places = [row["output"] for _, _, row in block["trials"]]
    assert places[0] == places[1] != places[2]
    assert [block["texts"][place] for place in places] == [["same"], ["same"], ["same", 9000]]


def test_all_of_a_trial_is_in_its_row() -> None:
    """Facts are written as everywhere else; checks that did not pass come first; what is not known is left out."""
    told = trial(
        verdict="failed",
        latency_ms=12.5,
        cost_usd=0.25,
        input_tokens=1200,
        exit_code=3,
        checks=(check(), check("failed", "no", score=0.0, weight=2.0, required=False)),
        transcript=(Turn(role="user", text=excerpt("go")),),
        tries=(TryDetail(try_index=0, status="timeout"), TryDetail(try_index=1, status="completed")),
    )
    ((task, condition, row),) = shown(report_with(told))
    assert (task, condition) == (0, 0)
    assert row["facts"] == ["12.5\u202fms", "0.25 USD", "1\u202f200 tokens in", "exit code 3"]
    assert [one["verdict"] for one in row["checks"]] == ["failed", "passed"]
    assert row["checks"][0] == {
        "scorer": "task",
        "verdict": "failed",
        "score": "0",
        "weight": "2",
        "optional": True,
    } | {"reason": row["checks"][0]["reason"]}
    assert [one["index"] for one in row["tries"]] == [0, 1]
    assert not {"kind", "stdout", "notes", "left_out"} & row.keys()


def test_conditions_are_named_by_what_they_differ_in() -> None:
    """The adapter that all share says nothing; the model that they differ in does."""
    report = report_with(trial())
    assert report.details is not None
    conditions = tuple(
        ConditionDetail(condition_id=name, skill_id="s", adapter="chat", model=name) for name in ("c0", "c1")
    )
    found = drawer_blocks(replace(report, details=replace(report.details, conditions=conditions)))
    assert unpacked(found[0])["conditions"] == [["s", "c0"], ["s", "c1"]]


def noise(rng: random.Random, n: int) -> Excerpt:
    """Give a text that no compression makes smaller."""
    start = rng.randrange(len(NOISE) - n)
    return excerpt(NOISE[start : start + n])


def noisy(rng: random.Random, i: int, *, n_checks: int = 1) -> TrialDetail:
    """Give a trial all of whose texts are random, every fifth one failed."""
    verdict = "failed" if i % 5 == 0 else "passed"
    return trial(
        f"{noise(rng, 8).text}-{i // 4}" if i % 4 == 0 else f"t{i // 4}",
        verdict,
        repeat=i % 4,
        latency_ms=rng.random() * 1000,
        output=noise(rng, 700),
        stderr=noise(rng, 300),
        message=noise(rng, 100),
        checks=tuple(check(verdict, noise(rng, 200).text) for _ in range(n_checks)),
    )


@pytest.mark.parametrize(("n", "n_checks"), [(1_000, 1), (10_000, 1), (150, 60)])
def test_texts_that_do_not_compress_keep_to_the_size(n: int, n_checks: int) -> None:
    """All blocks together stay within 256 KiB and 900 bytes a trial, whatever skills print and however many checks."""
    rng = random.Random(n)
    report = report_with(*(noisy(rng, i, n_checks=n_checks) for i in range(n)))
    blocks = drawer_blocks(report)
    assert sum(map(len, blocks)) <= size_allowed(n)
    assert size_allowed(n) <= 256 * 1024 + 1024 * n


def test_failed_trials_keep_more_of_their_texts() -> None:
    """What is cut to keep to the size is cut from passed trials first, and keeps its true length."""
    rng = random.Random(1)
    report = report_with(*(noisy(rng, i) for i in range(1_000)))
    kept: dict[str, set[int]] = {"passed": set(), "failed": set()}
    for _, _, row in shown(report):
        kept[row["verdict"]].add(len(row["output"][0]))
        assert len(row["output"]) == 1 or row["output"][1] == 700
    assert max(kept["passed"]) < max(kept["failed"])


def test_a_list_that_is_shortened_says_so() -> None:
    """Checks beyond what is kept are counted, and those that failed stay."""
    rng = random.Random(2)
    many = (
        (*(check(reason=noise(rng, 200).text) for _ in range(60)), check("failed", "this one"))
        for _ in range(100)
    )
    report = report_with(*(trial(repeat=i, checks=checks) for i, checks in enumerate(many)))
    rows = [row for _, _, row in shown(report)]
    assert all(row["checks"][0]["verdict"] == "failed" for row in rows)
    assert all(len(row["checks"]) + int(row["left_out"][0].split()[0]) == 61 for row in rows)


def test_the_same_report_gives_the_same_blocks() -> None:
    """No time, no order of a hash enters the file."""
    report = report_with(*(trial(f"t{i}", output=excerpt(str(i))) for i in range(100)))
    assert drawer_blocks(report) == drawer_blocks(report)
    assert all(base64.b64decode(block)[4:8] == b"\0\0\0\0" for block in drawer_blocks(report))


def test_hostile_texts_cannot_leave_their_block() -> None:
    """A block is base64, so no text can end its element; inside, each text is as it was, cut with its length."""
    told = [trial(text, repeat=i, output=excerpt(text[:4000], len(text))) for i, text in enumerate(HOSTILE)]
    report = report_with(*told)
    page = environment().get_template("drawer.html.j2").module.dialog(drawer_blocks(report))  # type: ignore[attr-defined]
    assert str(page).count("</script>") == len(drawer_blocks(report))
    assert not any(text in page for text in HOSTILE)
    outputs = [row["output"] for _, _, row in shown(report)]
    assert outputs == [*([text] for text in HOSTILE[:4]), ["x" * 4000, 1_000_000]]
    assert len(unpacked(drawer_blocks(report)[0])["tasks"][4][0]) <= 121


def test_lone_surrogates_do_not_break_the_file() -> None:
    """A JSON report may hold half of a character; the block that it comes to is still UTF-8."""
    ((_, _, row),) = shown(report_with(trial(output=excerpt("a\ud800b"))))
    assert row["output"] == ["a\ud800b"]


def test_a_task_without_input_is_packed() -> None:
    """What a task asks may not be known."""
    report = report_with(trial())
    assert report.details is not None
    bare = replace(report.details, tasks=(TaskDetail(task_id="t0"),))
    assert unpacked(drawer_blocks(replace(report, details=bare))[1])["tasks"] == {"0": [None, None]}
