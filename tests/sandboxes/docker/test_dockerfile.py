from __future__ import annotations

import pytest

from skilleval.sandboxes.docker.dockerfile import fetched


def _found(text: str) -> str | None:
    """Look through a Dockerfile where the engine has one image."""
    return fetched(text, lambda name: name == "base:1")


@pytest.mark.parametrize(
    "text",
    [
        "FROM base:1\nRUN echo ADD http://host/x\nCOPY add /add\n",
        "from base:1 as first\nFROM first\nCOPY --from=first /a /b\nCOPY --from=0 /a /b\n",
        "FROM --platform=linux/amd64 base:1 AS First\nFROM scratch\nCOPY --chown=1 --from=FIRST /a /b\n",
        "# ADD nothing\nFROM base:1\nRUN true && \\\n  # ADD a word\n  addgroup x\n",
    ],
)
def test_what_needs_only_what_is_there_is_built(text: str) -> None:
    """Images that the engine has, earlier stages and files of the folder: nothing is fetched for them."""
    assert _found(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "FROM base:1\nADD http://127.0.0.1/x /x\n",
        "FROM base:1\nadd $WHERE /x",
        "FROM base:1\r\nADD\thttp://host/x /x\r\n",
        "\ufeffFROM base:1\nADD x /x\n",
        "FROM base:1\nAD\\\nD http://host/x /x\n",
        "# escape=`\nFROM base:1\nAD`\nD http://host/x /x\n",
        "FROM base:1\nRUN true \\\n # a comment\nADD http://host/x /x\n",
        "FROM base:1\nONBUILD ADD http://host/x /x\nFROM 0\n",
        "FROM other:1\n",
        "FROM base:1 AS one\nFROM $two\n",
        "FROM base:1\nCOPY --from=other:1 /a /b\n",
        "FROM \\\nother:1\n",
    ],
)
def test_what_would_be_fetched_is_found(text: str) -> None:
    """Addresses and absent images are found, however they are written: not the build, but the engine has a network."""
    assert _found(text) is not None


def test_the_instruction_is_named_with_the_reason() -> None:
    """Whoever wrote it must see what to mend."""
    assert _found("FROM base:1\nFROM  other:1 AS x") == "FROM  other:1 AS x (the engine has no image other:1)"
