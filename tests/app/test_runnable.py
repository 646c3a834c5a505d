from __future__ import annotations

from typing import Any

import pytest
from samples import skill

from skilleval.app.runnable import missing_program
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

_ABSENT = "surely-no-such-program"


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"adapter": "subprocess", "entrypoint": f"{_ABSENT} skill.x"}, _ABSENT),
        ({"adapter": "subprocess", "entrypoint": f"'{_ABSENT}' 'unbalanced"}, f"'{_ABSENT}'"),
        ({"adapter": "subprocess", "entrypoint": "sh skill.sh"}, None),
        ({"adapter": "subprocess", "entrypoint": f"./{_ABSENT}"}, None),
        ({"adapter": "mcp", "entrypoint": f"{_ABSENT} server.x"}, _ABSENT),
        ({"adapter": "mcp", "entrypoint": "https://tools.example/mcp"}, None),
        ({"adapter": "http", "entrypoint": "https://tools.example/invoke"}, None),
        ({"adapter": "http", "adapter_options": {"serve": {"command": [_ABSENT, "{port}"]}}}, _ABSENT),
        ({"adapter": "python", "entrypoint": "module:function"}, None),
        ({"adapter": "replay", "entrypoint": _ABSENT}, None),
    ],
)
def test_a_skill_needs_what_it_is_started_with(changes: dict[str, Any], missing: str | None) -> None:
    """Command lines of all kinds of skills are looked at; addresses, functions and files of the skill are not."""
    one = skill(**changes)
    assert missing_program(one, one.adapter, NoSandbox(NoSandboxOptions(pass_env=()))) == missing


def test_a_skill_needs_what_the_chosen_adapter_starts() -> None:
    """Whoever replays stored attempts needs no interpreter."""
    one = skill(adapter="subprocess", entrypoint=_ABSENT)
    assert missing_program(one, "replay", NoSandbox(NoSandboxOptions(pass_env=()))) is None
