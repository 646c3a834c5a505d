"""Small made-up results of other tools, in their own shapes."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def write(path: Path, value: Any) -> Path:
    """Write a JSON file and the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


# eval-skills: the numbers of this report follow from its own formulas with M = 1000 ms and weights.
UNITS_RESULTS: list[Json] = [
    {
        "taskId": "u1",
        "skillId": "unit_convert",
        "status": "pass",
        "score": 1,
        "latencyMs": 120.4,
        "output": {"result": "3000"},
        "scorerType": "exact_match",
        "runId": 1,
        "usage": {"promptTokens": 12, "completionTokens": 6, "totalTokens": 18},
        "weight": 2,
    },
    {
        "taskId": "u2",
        "skillId": "unit_convert",
        "status": "fail",
        "score": 0.5,
        "latencyMs": 80.2,
        "output": "1 mile is 1.609 km",
        "scorerType": "contains",
        "reason": "1 of 2 keywords found",
        "runId": 1,
        "usage": {"promptTokens": 10, "completionTokens": 4, "totalTokens": 14},
    },
    {
        "taskId": "u3",
        "skillId": "unit_convert",
        "status": "error",
        "score": 0,
        "latencyMs": 0,
        "error": "process exited with code 1",
        "scorerType": "json_schema",
        "runId": 1,
    },
]


def eval_skills_report(
    results: Sequence[Json] = UNITS_RESULTS, *, skill: str = "unit_convert", benchmark: str = "units-mini"
) -> Json:
    """Give what `eval-skills` reports of one skill."""
    return {
        "skillId": skill,
        "skillVersion": "1.2.0",
        "benchmarkId": benchmark,
        "timestamp": "2026-11-01T08:00:00.000Z",
        "summary": {"completionRate": 0.3333, "compositeScore": 0.5427},
        "latency": {"p50Ms": 80, "p95Ms": 120, "p99Ms": 120},
        "taskResults": list(results),
        "evaluatorMetadata": {},
    }


UNITS_BENCHMARK: Json = {
    "id": "units-mini",
    "name": "Unit conversion, small",
    "version": "1.0.0",
    "domain": "reasoning",
    "scoringMethod": "weighted_mean",
    "maxLatencyMs": 1000,
    "tasks": [
        {
            "id": "u1",
            "description": "km to m",
            "inputData": {"value": 3, "from": "km", "to": "m"},
            "expectedOutput": {"type": "exact", "value": "3000"},
            "evaluator": {"type": "exact"},
            "timeoutMs": 5000,
            "tags": ["length"],
            "weight": 2,
        },
        {
            "id": "u2",
            "description": "names both units",
            "inputData": {"value": 1, "from": "mi", "to": "km"},
            "expectedOutput": {"type": "contains", "keywords": ["mile", "kilometre"]},
            "evaluator": {"type": "contains"},
        },
        {
            "id": "u3",
            "description": "rejects nonsense",
            "inputData": {"value": 1, "from": "kg", "to": "m"},
            "expectedOutput": {"type": "schema", "schema": {"type": "object", "required": ["error"]}},
            "evaluator": {"type": "schema"},
        },
    ],
}

_STORE = """
create table skills (id text primary key, name text not null, version text not null, data json not null);
create table evaluations (id text primary key, skill_id text, benchmark_id text not null, summary json,
                          timestamp datetime);
create table task_results (eval_id text, task_id text, skill_id text, run_id integer default 1, status text,
                           score real, latency_ms integer, data json, primary key (eval_id, task_id, run_id));
"""


def eval_skills_store(path: Path, evaluations: Mapping[str, str]) -> Path:
    """Write a store with some evaluations of one skill: id → time."""
    with closing(sqlite3.connect(path)) as store:
        store.executescript(_STORE)
        manifest = json.dumps({"id": "unit_convert", "adapterType": "subprocess"})
        store.execute("insert into skills values ('unit_convert', 'Units', '1.2.0', ?)", (manifest,))
        for name, moment in evaluations.items():
            store.execute(
                "insert into evaluations values (?, 'unit_convert', 'units-mini', '{\"completionRate\": 0.3333}', ?)",
                (name, moment),
            )
            for result in UNITS_RESULTS:
                store.execute(
                    "insert into task_results (eval_id, task_id, skill_id, data) values (?, ?, 'unit_convert', ?)",
                    (name, result["taskId"], json.dumps(result)),
                )
        store.commit()
    return path


def grading(*passed: bool | None, spelling: str = "assertion_results") -> Json:
    """Give a grading of assertions, in either spelling."""
    return {
        spelling: [
            {"text": f"assertion {index}", "passed": one, "evidence": f"line {index}"}
            for index, one in enumerate(passed)
        ],
        "summary": {"passed": sum(map(bool, passed)), "total": len(passed), "pass_rate": 1},
    }


def attempt(folder: Path, graded: Json | None, timing: Json | None = None, output: str | None = None) -> None:
    """Write what an attempt of a workspace leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    if graded is not None:
        write(folder / "grading.json", graded)
    if timing is not None:
        write(folder / "timing.json", timing)
    if output is not None:
        (folder / "outputs").mkdir(exist_ok=True)
        (folder / "outputs" / "output.txt").write_text(output, encoding="utf-8")


def agent_skills_eval(root: Path, *, name: str = "tide", path: str = "") -> Path:
    """Write an iteration of agent-skills-eval: rates 1, 0.5, 1 with the skill and 0, 0.5, 0.5 without it."""
    about = {
        "name": name,
        "slug": name,
        "relPath": path,
        "target": "model-t",
        "judge": "model-j",
        "modes": ["with_skill", "without_skill"],
        "generated_at": "2026-05-07T10:00:00.000Z",
    }
    write(root / "meta.json", about)
    write(root / "benchmark.json", {"run_summary": {"delta": {"pass_rate": 0.5}}})
    cases = {
        "a": ((True,), (False,)),
        "b": ((True, True, False, False),) * 2,
        "c": ((True, True), (True, False)),
    }
    for case, arms in cases.items():
        for mode, passed in zip(("with_skill", "without_skill"), arms, strict=True):
            folder = root / f"eval-{case}" / mode
            attempt(folder, grading(*passed), {"total_tokens": 50, "duration_ms": 1500}, f"answer {case}")
            write(folder / "prompts.json", {"user": f"question {case}", "fileCount": 0})
    return root


EVOS: Json = {
    "capability": "invoice-check",
    "version": "1.0.0",
    "timestamp": "2026-02-24T11:00:00Z",
    "model": "model-m",
    "scenario_results": [
        {
            "scenario_id": "IC-001",
            "scenario_name": "Totals",
            "difficulty": "easy",
            "category": "sums",
            "criteria_results": [
                {
                    "criterion": "names_line",
                    "weight": 0.6,
                    "rating": "pass",
                    "score": 1.0,
                    "reasoning": "says 3",
                },
                {
                    "criterion": "gives_total",
                    "weight": 0.4,
                    "rating": "partial",
                    "score": 0.5,
                    "reasoning": "",
                },
            ],
            "weighted_score": 0.8,
            "agent_response": "Line 3.",
            "error": None,
        },
        {
            "scenario_id": "IC-002",
            "scenario_name": "Tax",
            "difficulty": "hard",
            "category": "tax",
            "criteria_results": [
                {
                    "criterion": "names_rate",
                    "weight": 1.0,
                    "rating": "fail",
                    "score": 0.0,
                    "reasoning": "no rate",
                },
            ],
            "weighted_score": 0.0,
            "agent_response": "I do not know.",
            "error": None,
        },
    ],
    "aggregate_score": 0.4,
    "total_scenarios": 2,
    "passed_scenarios": 1,
    "statistics": {"overall": 0.4},
}


def trajectory(task: int, trial: int, reward: float, info: Json | None = None) -> Json:
    """Give a trajectory of tau-bench."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}]
    return {
        "task_id": task,
        "reward": reward,
        "info": {
            "task": {"user_id": "u", "instruction": "book", "actions": [], "outputs": []},
            "user_cost": 0.1,
        }
        if info is None
        else info,
        "traj": [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "{}"},
            {"role": "assistant", "content": "done"},
        ],
        "trial": trial,
    }


def inspect_sample(name: str, epoch: int, **more: Any) -> Json:
    """Give a sample of an Inspect log."""
    return {
        "id": name,
        "epoch": epoch,
        "input": f"question {name}",
        "target": "4",
        "output": {"model": "m/served", "choices": [], "completion": "4"},
        "scores": {"match": {"value": "C", "answer": "4", "explanation": "as expected"}},
        "model_usage": {
            "m/asked": {
                "input_tokens": 7,
                "output_tokens": 2,
                "total_tokens": 9,
                "input_tokens_cache_read": 3,
            },
            "m/judge": {"input_tokens": 100, "output_tokens": 100, "total_tokens": 200},
        },
        "total_time": 3.5,
        "working_time": 2.25,
        "started_at": "2026-06-01T10:00:01+02:00",
        "completed_at": "2026-06-01T10:00:05+02:00",
        **more,
    }


def inspect_log(samples: Sequence[Json], *, status: str = "success") -> Json:
    """Give an Inspect log as one JSON document."""
    return {
        "version": 2,
        "status": status,
        "eval": {
            "task": "sums",
            "task_version": 3,
            "model": "m/asked",
            "packages": {"inspect_ai": "0.3.140"},
            "dataset": {"name": "sums", "sample_ids": ["a", "b"]},
            "config": {"epochs": 2},
            "sandbox": {"type": "docker", "config": None},
        },
        "results": {"scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.5}}}]},
        "stats": {"started_at": "2026-06-01T10:00:00+02:00", "completed_at": "2026-06-01T10:01:00+02:00"},
        "samples": list(samples),
    }


def inspect_archive(path: Path, log: Json, *, is_whole: bool = True) -> Path:
    """Write a log as the zip of its parts; one that was cut short has no header."""
    header = {key: value for key, value in log.items() if key != "samples"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        first = "header.json" if is_whole else "_journal/start.json"
        archive.writestr(first, json.dumps(header))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path
