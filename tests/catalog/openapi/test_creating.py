from __future__ import annotations

import json
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from apis import answers, json_content, shop_api, write_api
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.catalog.benchmarks import read_tasks
from skilleval.catalog.openapi.creating import create_from_openapi
from skilleval.catalog.read import read_catalog
from skilleval.errors import CatalogError, UsageError

URL = "http://127.0.0.1:9"


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """Give the document of the tea shop as a file."""
    return write_api(tmp_path / "shop.json", shop_api(URL))


def test_what_is_made_is_read_by_the_catalog_without_a_word(document: Path, tmp_path: Path) -> None:
    """Each skill is valid with its adapter.config.json, and so is each starter; what is left out says why."""
    made = create_from_openapi(document, output_dir=tmp_path / "skills")
    assert [(one.id, one.is_new, one.to_edit) for one in made.skills] == [
        ("list-teas", True, ()),
        ("add-tea", True, ()),
        ("put-teas-tea-id", True, ()),
    ]
    assert [(one.label, one.reason) for one in made.left_out] == [
        ("DELETE /teas/{teaId}", "its answer has no content")
    ]
    catalog = read_catalog([tmp_path / "skills"])
    assert sorted(one.id for one in catalog.skills) == ["add-tea", "list-teas", "put-teas-tea-id"]
    assert (catalog.problems, catalog.notices) == ((), ())
    for one in made.skills:
        reading = read_tasks(one.starter)
        assert ([task.id for task in reading.benchmark.tasks], reading.notices) == (["starter"], ())
        assert sorted(one.files) == sorted(path for path in one.folder.rglob("*") if path.is_file())


def test_a_dry_run_says_the_same_and_writes_nothing(document: Path, tmp_path: Path) -> None:
    """Not even the folder."""
    would = create_from_openapi(document, output_dir=tmp_path / "skills", is_dry_run=True)
    assert not (tmp_path / "skills").exists()
    assert would == create_from_openapi(document, output_dir=tmp_path / "skills")


def test_what_is_there_is_kept(document: Path, tmp_path: Path) -> None:
    """An edited skill stays as it is, a new operation is added, and a link to nowhere is not followed."""
    skills = tmp_path / "skills"
    create_from_openapi(document, output_dir=skills)
    (skills / "add-tea" / "skill.json").write_text("mine")
    (skills / "list-teas2").symlink_to(tmp_path / "nowhere")
    value = shop_api(URL)
    for name in ("new", "listTeas2"):
        value["paths"][f"/{name}"] = {"get": {"operationId": name, "responses": answers()}}
    again = create_from_openapi(write_api(document, value), output_dir=skills)
    assert [one.id for one in again.skills if one.is_new] == ["new"]
    assert (skills / "add-tea" / "skill.json").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_another_address_may_be_asked(document: Path, tmp_path: Path) -> None:
    """In place of the servers of the document, which may be those that others rely on."""
    made = create_from_openapi(document, output_dir=tmp_path, base_url="http://127.0.0.1:8/x/")
    configs = [json.loads((one.folder / "adapter.config.json").read_text()) for one in made.skills]
    assert {config["baseUrl"] for config in configs} == {"http://127.0.0.1:8/x"}
    with pytest.raises(UsageError) as caught:
        create_from_openapi(document, output_dir=tmp_path, base_url="http://me:sesame@a.example")
    assert "sesame" not in str(caught.value)


def test_an_error_in_a_late_operation_leaves_nothing_behind(document: Path, tmp_path: Path) -> None:
    """A malformed document is told before the first file is written."""
    value = shop_api(URL)
    value["components"]["schemas"]["Tea"]["properties"]["name"]["type"] = "text"
    with pytest.raises(CatalogError) as caught:
        create_from_openapi(write_api(document, value), output_dir=tmp_path / "skills")
    (problem,) = caught.value.problems
    assert (problem.where, problem.key) == (str(document), "components.schemas.Tea.properties.name.type")
    assert not (tmp_path / "skills").exists()


def test_a_reference_to_nothing_costs_only_what_needs_it(document: Path, tmp_path: Path) -> None:
    """Wherever it stands, in an answer, in what is asked or in a part that several share, the others become skills."""
    tea, lost = {"$ref": "#/components/schemas/Tea"}, {"$ref": "#/components/schemas/Lost"}
    holder = {"$ref": "#/components/schemas/Holder"}
    value = shop_api(URL)
    value["components"]["schemas"]["Holder"] = {"type": "object", "properties": {"a": lost}}
    value["paths"] = {
        "/whole": {"get": {"responses": answers(tea)}},
        "/answer": {"get": {"responses": answers(lost)}},
        "/asked": {"post": {"requestBody": {"content": json_content(lost)}, "responses": answers(tea)}},
        "/inside": {"get": {"responses": answers(holder)}},
        "/again": {"get": {"responses": answers(holder)}},
        "/path": {"$ref": "#/components/pathItems/lost"},
    }
    made = create_from_openapi(write_api(document, value), output_dir=tmp_path / "skills")
    assert [skill.label for skill in made.skills] == ["GET /whole"]
    told = {one.label: one.reason for one in made.left_out}
    assert told.keys() == {"GET /answer", "POST /asked", "GET /inside", "GET /again", "/path"}
    assert all("which is not in this document (" in reason for reason in told.values())


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ({}, "paths: expected at least one operation, found none"),
        (
            {"/a": {"get": {"responses": {}}}},
            "GET /a: expected an operation that can be a skill, found no answer",
        ),
        ({"/a": {"get": {"responses": answers({})}}}, "found the schema of its answer accepts everything"),
    ],
)
def test_a_document_without_a_skill_in_it_is_an_error(
    document: Path, tmp_path: Path, paths: Any, expected: str
) -> None:
    """It says of each operation why."""
    with pytest.raises(CatalogError) as caught:
        create_from_openapi(
            write_api(document, {**shop_api(URL), "paths": paths}), output_dir=tmp_path / "skills"
        )
    assert expected in str(caught.value)


def test_what_cannot_be_written_is_told_with_its_place(document: Path, tmp_path: Path) -> None:
    """A file in the place of the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogError, match="nothing can be made here"):
        create_from_openapi(document, output_dir=tmp_path / "file")


def test_a_schema_that_is_nested_too_deeply_is_told(document: Path, tmp_path: Path) -> None:
    """It is an error of the document, not of the program."""
    deep: dict[str, Any] = {"type": "null"}
    for _ in range(400):
        deep = {"type": "array", "items": deep}
    value = {**shop_api(URL), "paths": {"/a": {"get": {"responses": answers(deep)}}}}
    with pytest.raises(CatalogError, match="nested too deeply"):
        create_from_openapi(write_api(document, value), output_dir=tmp_path / "skills")


_JUNK: tuple[Any, ...] = (
    None,
    -1,
    1.5,
    "",
    "x",
    True,
    [],
    {},
    ["a", "a"],
    {"a": 3},
    {"$ref": "#/components/schemas/Tea"},
)
_KEYS = (
    "$ref",
    "allOf",
    "nullable",
    "schema",
    "content",
    "examples",
    "required",
    "items",
    "style",
    "security",
)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Give each object or list in a document with each of its keys."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, item in pairs:
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


@settings(max_examples=75, deadline=None)
@given(data=st.data(), version=st.sampled_from(["3.0.3", "3.1.0"]))
def test_law_whatever_is_wrong_is_told_with_its_place(data: st.DataObject, version: str) -> None:
    """Anything in the place of anything else: skills, or an error that names the file."""
    value = shop_api(URL, version=version)
    holder, key = data.draw(st.sampled_from(list(_places(value))))
    if isinstance(holder, dict) and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(_KEYS))
    holder[key] = deepcopy(data.draw(st.sampled_from(_JUNK)))
    with TemporaryDirectory() as folder:
        document = write_api(Path(folder) / "shop.json", value)
        told: set[str] = set()
        try:
            create_from_openapi(document, output_dir=Path(folder) / "skills", is_dry_run=True)
        except CatalogError as error:
            told = {problem.where for problem in error.problems} or {"no problem"}
    assert told <= {str(document)}


def test_thousands_of_operations_are_read_quickly(document: Path, tmp_path: Path) -> None:
    """What they share is read once; the limit leaves room for a machine that has other work too."""
    value = shop_api(URL)
    tea = {"$ref": "#/components/schemas/Tea"}
    parameters = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
    value["paths"] = {
        f"/teas{n}/{{id}}": {
            "post": {
                "parameters": parameters,
                "requestBody": {"content": json_content(tea)},
                "responses": answers(tea),
            }
        }
        for n in range(2000)
    }
    began = time.process_time()
    made = create_from_openapi(write_api(document, value), output_dir=tmp_path / "skills", is_dry_run=True)
    assert len(made.skills) == 2000
    assert time.process_time() - began < 10
