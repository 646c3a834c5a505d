"""Leaves files whose names trip up whoever tidies: links that lead out, dots, line breaks, bytes that are no text."""

import os
import tempfile
from pathlib import Path

from hostile.programs.stage import managed, mark, read_aims, say

aims = read_aims()
folder = Path(tempfile.gettempdir())
outside = Path(aims["canary"]).parent
managed(
    {
        "link to a file": lambda: (folder / "link").symlink_to(aims["canary"]),
        "link to a folder": lambda: (folder / "links").symlink_to(outside, target_is_directory=True),
        "line break": lambda: (folder / "a\nb\n").write_text("x"),
        "dash": (folder / "-rf").mkdir,
        "bytes": lambda: os.close(os.open(os.fsencode(folder) + b"/\xff\xfe", os.O_CREAT | os.O_WRONLY)),
        "closed": lambda: (folder / "closed" / "in").mkdir(parents=True),
        "closing": lambda: (folder / "closed").chmod(0),
        "deep": lambda: (folder / "/".join(["d"] * 100)).mkdir(parents=True),
    }
)
done = managed(
    {
        "through a link": lambda: (folder / "links" / mark(aims)).write_text("x"),
        "through dots": lambda: Path(f"{folder}/../{outside.name}/{mark(aims)}").write_text("x"),
        "a change through a link": lambda: (folder / "link").open("a").write("x"),
    }
)
say(*done)
