"""Writes the skills of an OpenAPI document, each into a folder of its own; nothing is overwritten."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skilleval.catalog.create import STARTER, not_writable, write_new
from skilleval.catalog.openapi.building import SkillBuilder, SkillFiles, skill_ids
from skilleval.catalog.openapi.document import ApiDocument, UnusableOperationError, read_api
from skilleval.catalog.openapi.operations import LeftOut, Operation, read_operations
from skilleval.catalog.openapi.servers import is_address
from skilleval.errors import CatalogError, Problem, UsageError

_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSkill:
    """A skill of an operation. `is_new` is false where its folder was there already, which is kept as it is."""

    id: str
    label: str
    folder: Path
    files: tuple[Path, ...]
    is_new: bool
    to_edit: tuple[str, ...]

    @property
    def starter(self) -> Path:
        """The starter benchmark of the skill."""
        return self.folder / STARTER


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSkills:
    """What became of the operations of a document."""

    skills: tuple[OperationSkill, ...]
    left_out: tuple[LeftOut, ...]


def create_from_openapi(
    path: Path, *, output_dir: Path, base_url: str = "", is_dry_run: bool = False
) -> OperationSkills:
    """Make a skill of each operation of an OpenAPI document that can be one.

    `base_url` is asked in place of the document's servers. In a dry run nothing is written.

    Raises:
        UsageError: `base_url` is no address.
        CatalogError: the document is malformed, no operation can be a skill, or nothing can be written.
    """
    if base_url and not is_address(base_url):
        expected = "an address such as http://127.0.0.1:8000/v1, without name and password"
        problem = Problem(where="--base-url", expected=expected, found="something else")
        raise UsageError("the skills need an address", problems=(problem,))
    document = read_api(path)
    try:
        made, left_out = _made(document, base_url)
    except RecursionError:
        raise document.refusal((), "values of reasonable depth", "some that are nested too deeply") from None
    if not made:
        raise _nothing(document, left_out)
    return OperationSkills(skills=tuple(_written(made, output_dir, is_dry_run=is_dry_run)), left_out=left_out)


def _made(document: ApiDocument, base_url: str) -> tuple[list[SkillFiles], tuple[LeftOut, ...]]:
    read = list(read_operations(document, base_url=base_url))
    ids = skill_ids(one for one in read if isinstance(one, Operation))
    builder = SkillBuilder(document)
    made: list[SkillFiles] = []
    left_out: list[LeftOut] = []
    for one in read:
        if isinstance(one, LeftOut):
            left_out.append(one)
            continue
        try:
            made.append(builder.skill(ids[one.label], one))
        except UnusableOperationError as error:
            left_out.append(LeftOut(label=one.label, reason=str(error)))
    return made, tuple(left_out)


def _nothing(document: ApiDocument, left_out: tuple[LeftOut, ...]) -> CatalogError:
    if not left_out:
        return document.refusal(("paths",), "at least one operation", "none")
    problems = tuple(
        Problem(
            where=document.where, key=one.label, expected="an operation that can be a skill", found=one.reason
        )
        for one in left_out[:_MOST_PROBLEMS]
    )
    return CatalogError("no operation can be a skill", problems=problems)


def _written(made: list[SkillFiles], output_dir: Path, *, is_dry_run: bool) -> Iterator[OperationSkill]:
    for one in made:
        folder = output_dir / one.id
        is_new = not folder.exists() and not folder.is_symlink()
        if is_new and not is_dry_run:
            _write(folder, one)
        yield OperationSkill(
            id=one.id,
            label=one.label,
            folder=folder,
            files=tuple(folder / name for name in sorted(one.values)),
            is_new=is_new,
            to_edit=one.to_edit if is_new else (),
        )


def _write(folder: Path, one: SkillFiles) -> None:
    try:
        folder.mkdir(parents=True)
        for name, value in one.values.items():
            write_new(folder / name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise not_writable(error) from None
