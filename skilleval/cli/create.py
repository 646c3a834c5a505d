"""`skilleval create`: new skills with starter benchmarks, from a template or of an OpenAPI document."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Command, Common, common_options
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.catalog.openapi.creating import OperationSkills

_EXAMPLE = """
skilleval create --name my-skill --from-template python_script
skilleval create --name "Unit conversion" --from-template node_script --description "Converts units"
skilleval create --from-openapi shop.yaml --output-dir skills/shop --dry-run
"""
_DESCRIPTION = "Says a query louder"
"""What every template does."""


_TEMPLATE = "http_request"
_OF_TEMPLATES = ("name", "template", "description")
_OF_DOCUMENTS = ("base_url", "dry_run")


@click.command("create", cls=Command, example=_EXAMPLE, short_help="Make new skills.")
@click.option("--name", metavar="NAME", help="What people call the skill; its id is made of it.")
@click.option(
    "--from-template",
    "template",
    metavar="NAME",
    help=f"http_request, mcp_tool, node_script or python_script.  [default: {_TEMPLATE}]",
)
@click.option(
    "--from-openapi",
    "openapi",
    type=click.Path(),
    metavar="FILE",
    help="Make a skill of each operation of this OpenAPI 3.0 or 3.1 document (JSON or YAML).",
)
@click.option(
    "--base-url", metavar="URL", help="Ask this address instead of the servers of the OpenAPI document."
)
@click.option(
    "--output-dir",
    type=click.Path(),
    default="skills",
    show_default=True,
    metavar="DIR",
    help="Where the skill's folder goes.",
)
@click.option("--description", metavar="TEXT", help=f"What the skill does.  [default: {_DESCRIPTION}]")
@click.option(
    "--dry-run", is_flag=True, help="Say what --from-openapi would make and leave out; write nothing."
)
@common_options
def create(common: Common, *, openapi: str | None, output_dir: str, **options: Any) -> None:
    """Make a folder with a skill that runs and a starter benchmark that it passes; nothing is overwritten.

    The id is the name where that is a plain word; else a word made of it, with a hash so that no two names meet.

    Of an OpenAPI document each operation becomes an http skill. Its starter sends one real request, also where that
    changes or deletes something: look at it before you run it.
    """
    _check(openapi, options)
    if openapi is not None:
        _from_openapi(common, Path(openapi), Path(output_dir), options)
    else:
        _from_template(common, Path(output_dir), options)


def _check(openapi: str | None, options: dict[str, Any]) -> None:
    """Refuse options that would be without effect."""
    strangers = [name for name in (_OF_TEMPLATES if openapi is not None else _OF_DOCUMENTS) if options[name]]
    if strangers:
        word = {"template": "--from-template"}.get(strangers[0], f"--{strangers[0].replace('_', '-')}")
        expected = (
            "no such option with --from-openapi" if openapi is not None else "it with --from-openapi only"
        )
        raise UsageError("options contradict each other", problems=(Problem(where=word, expected=expected),))
    if openapi is None and options["name"] is None:
        problem = Problem(
            where="--name", expected="a name, or --from-openapi with a document", found="nothing"
        )
        raise UsageError("it must be said what to make", problems=(problem,))


def _from_template(common: Common, output_dir: Path, options: dict[str, Any]) -> None:
    from skilleval.catalog.create import create_skill

    template, description = options["template"] or _TEMPLATE, options["description"]
    made = create_skill(
        options["name"] or "",
        template=template,
        output_dir=output_dir,
        description=_DESCRIPTION if description is None else description,
    )
    command = shlex.join(["skilleval", "eval", str(made.folder), "--tasks", str(made.starter)])
    common.screen.document(
        {
            "id": made.id,
            "folder": str(made.folder),
            "files": [str(path) for path in made.files],
            "next": command,
        }
    )
    for path in made.files:
        common.screen.say(f"made:     {path}")
    common.screen.say(f"next:     {command}")


def _from_openapi(common: Common, document: Path, output_dir: Path, options: dict[str, Any]) -> None:
    from skilleval.catalog.openapi.creating import create_from_openapi

    is_dry_run = bool(options["dry_run"])
    found = create_from_openapi(
        document, output_dir=output_dir, base_url=options["base_url"] or "", is_dry_run=is_dry_run
    )
    command = _next_command(found, is_dry_run=is_dry_run)
    common.screen.document({**_document(found), "dry_run": is_dry_run, "next": command})
    made = "to make:" if is_dry_run else "made:"
    for skill in found.skills:
        common.screen.say(f"{made if skill.is_new else 'kept:':<9} {skill.folder} ({skill.label})")
    for skill in found.skills:
        for what in skill.to_edit:
            common.screen.say(f"{'see to:':<9} {skill.folder}: {what}")
    for left in found.left_out:
        common.screen.say(f"{'left out:':<9} {left.label}: {left.reason}")
    if command is not None:
        common.screen.say(f"{'next:':<9} {command}")


def _next_command(found: OperationSkills, *, is_dry_run: bool) -> str | None:
    first = next((skill for skill in found.skills if skill.is_new), None)
    if first is None or is_dry_run:
        return None
    return shlex.join(["skilleval", "eval", str(first.folder), "--tasks", str(first.starter)])


def _document(found: OperationSkills) -> dict[str, object]:
    return {
        "skills": [
            {
                "id": skill.id,
                "operation": skill.label,
                "folder": str(skill.folder),
                "files": [str(path) for path in skill.files],
                "is_new": skill.is_new,
                "see_to": list(skill.to_edit),
            }
            for skill in found.skills
        ],
        "left_out": [{"operation": left.label, "reason": left.reason} for left in found.left_out],
    }
