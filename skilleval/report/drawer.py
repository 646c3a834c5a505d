"""The single trials of a report as small compressed blocks, for a page that inflates only those it opens.

The first block is the index; each further one holds the trials of a few neighbouring tasks. A block is JSON, gzipped
without a time (so that the same report gives the same bytes) and written in base64. What a text is stands in
`texts` of its block once: `[text]`, or `[beginning, length of the whole]` where it is cut.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from skilleval.report.details import Details, TrialDetail
from skilleval.report.document import Report
from skilleval.report.drawer_levels import LEVELS, Level
from skilleval.report.drawer_rows import Texts, condition_rows, task_row, trial_row
from skilleval.report.text import json_text

TRIALS_A_BLOCK = 64
FIXED_SIZE = 256 * 1024
SIZE_A_TRIAL = 900
_SAMPLES = 6
_MARGIN = 1.02  # blocks not sampled may be a little larger than sampled ones


def drawer_blocks(report: Report) -> tuple[str, ...]:
    """Pack the trials of a report; texts are cut shorter until all blocks together keep to their size.

    Tasks and conditions are named by their positions in the details of the report. There is no block where nothing is
    shown.
    """
    details = report.details
    if details is None or not details.trials:
        return ()
    groups = tuple(_groups(details))
    allowed = size_allowed(len(details.trials))
    level = next((level for level in LEVELS if _estimate(details, groups, level) <= allowed), LEVELS[-1])
    blocks = _blocks(details, groups, level)
    for further in LEVELS[LEVELS.index(level) + 1 :]:
        if sum(map(len, blocks)) <= allowed:
            break
        blocks = _blocks(details, groups, further)
    return blocks


def size_allowed(n_trials: int) -> int:
    """Give how many characters all blocks together may have."""
    return FIXED_SIZE + SIZE_A_TRIAL * n_trials


def _places(details: Details) -> dict[str, int]:
    return {task.task_id: i for i, task in enumerate(details.tasks)}


def _condition_places(details: Details) -> dict[str, int]:
    return {condition.condition_id: i for i, condition in enumerate(details.conditions)}


def _groups(details: Details) -> Iterator[tuple[TrialDetail, ...]]:
    """Part the trials into blocks: tasks stay together unless one alone fills several blocks."""
    place = _places(details)
    trials = sorted(details.trials, key=lambda trial: place[trial.task_id])
    held: list[TrialDetail] = []
    for _, of_task in groupby(trials, key=lambda trial: trial.task_id):
        task = list(of_task)
        if held and len(held) + len(task) > TRIALS_A_BLOCK:
            yield tuple(held)
            held = []
        held += task
        while len(held) > TRIALS_A_BLOCK:
            yield tuple(held[:TRIALS_A_BLOCK])
            held = held[TRIALS_A_BLOCK:]
    if held:
        yield tuple(held)


def _blocks(details: Details, groups: Sequence[tuple[TrialDetail, ...]], level: Level) -> tuple[str, ...]:
    index = _packed(_index(details, groups, level))
    return (index, *(_packed(block) for block in _contents(details, groups, level)))


def _estimate(details: Details, groups: Sequence[tuple[TrialDetail, ...]], level: Level) -> float:
    """Guess the size of all blocks from some of them, evenly spread."""
    step = -(-len(groups) // _SAMPLES)
    sampled = groups[step // 2 :: step]
    size = sum(len(_packed(block)) for block in _contents(details, sampled, level))
    share = sum(map(len, groups)) / sum(map(len, sampled))
    return len(_packed(_index(details, groups, level))) + size * share * (1.0 if step == 1 else _MARGIN)


def _index(details: Details, groups: Sequence[tuple[TrialDetail, ...]], level: Level) -> dict[str, Any]:
    """Give what has to be known before a task is opened: the names, and in which blocks a task is."""
    place = _places(details)
    spans: dict[int, list[int]] = {}
    for number, trials in enumerate(groups, start=1):
        for trial in trials:
            spans.setdefault(place[trial.task_id], [number, number])[1] = number
    return {
        "tasks": [task_row(task, level) for task in details.tasks],
        "blocks": [spans.get(i) for i in range(len(details.tasks))],
        "conditions": condition_rows(details.conditions, level),
        "shown": len(details.trials),
        "trials": details.n_trials,
    }


def _contents(
    details: Details, groups: Iterable[Sequence[TrialDetail]], level: Level
) -> Iterator[dict[str, Any]]:
    """Give the blocks as plain JSON; the texts of a task stand in every block that has trials of it."""
    tasks, conditions = _places(details), _condition_places(details)
    for trials in groups:
        texts = Texts()
        asked = {}
        for task_id in dict.fromkeys(trial.task_id for trial in trials):
            task = details.tasks[tasks[task_id]]
            whole = (task.input, task.expected)
            asked[str(tasks[task_id])] = [texts.place(text, level.failed) for text in whole]
        rows = [
            [tasks[trial.task_id], conditions[trial.condition_id], trial_row(trial, texts, level)]
            for trial in trials
        ]
        yield {"tasks": asked, "trials": rows, "texts": texts.all}


def _packed(value: object) -> str:
    packed = gzip.compress(json_text(value).encode(), compresslevel=9, mtime=0)
    return base64.b64encode(packed).decode("ascii")
