"""ToolBench queries: which of the APIs on offer does a request need?"""

from __future__ import annotations

from typing import Any

from skilleval.catalog.loaders.base import Data, Loader, Row, found, withheld

_ANSWER = "relevant APIs"
_PAIR = 2


def _task(row: Row, data: Data) -> dict[str, Any]:
    offered = _offered(row, data)
    return {
        "id": _id(row, data),
        "inputData": {"query": data.text(row, "query"), "api_list": offered},
        "tags": sorted({_tag(api["category_name"]) for api in offered if "category_name" in api}),
        **_answer(row, data, {(api["tool_name"], api["api_name"]) for api in offered}),
    }


def _id(row: Row, data: Data) -> str:
    number = row.value.get("query_id")
    if isinstance(number, int) and not isinstance(number, bool):
        return str(number)
    return data.text(row, "query_id")


def _tag(category: object) -> str:
    return str(category).strip().lower().replace(" ", "-")


def _offered(row: Row, data: Data) -> list[dict[str, Any]]:
    offered = row.value.get("api_list")
    if isinstance(offered, list) and offered and all(_is_api(api) for api in offered):
        return offered
    expected = "a list of APIs, each with tool_name and api_name"
    data.refuse(row, "api_list", expected=expected, found=found(row, "api_list"))
    return []


def _is_api(api: object) -> bool:
    return isinstance(api, dict) and all(isinstance(api.get(key), str) for key in ("tool_name", "api_name"))


def _answer(row: Row, data: Data, offered: set[tuple[str, str]]) -> dict[str, Any]:
    answer = row.value.get(_ANSWER, [])
    if answer == []:
        return withheld(data, row)
    if not isinstance(answer, list) or not all(_is_pair(pair) for pair in answer):
        data.refuse(row, _ANSWER, expected="a list of pairs [tool, API]", found=found(row, _ANSWER))
        return {}
    if offered and not {tuple(pair) for pair in answer} <= offered:
        data.notices.add(row.task, "an expected API is not among those on offer, so that no answer is right")
    return {"expectedOutput": {"value": answer}}


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == _PAIR and all(isinstance(name, str) for name in pair)


TOOLBENCH = Loader(
    task=_task,
    bring="download the data of ToolBench (OpenBMB) and name one of its query files, such as "
    "instruction/G1_query.json, with --data FILE",
)
