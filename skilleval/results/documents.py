"""JSON documents that stand at the top of a folder of results; what is no such document is said to be none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.errors import ResultsError


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKind:
    """A kind of document: the name of its file, what it is, of what, and the keys without which it is none."""

    name: str
    noun: str
    of: str
    needed: Sequence[str]

    def read(self, folder: Path) -> dict[str, Any]:
        """Read the document of a folder.

        Raises:
            ResultsError: there is none, or it is no JSON object with all keys it needs.
        """
        path = folder / self.name
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            msg = f"{folder} is no {self.of}: it has no {self.name}"
            raise ResultsError(msg) from None
        except RecursionError:
            msg = f"{path} cannot be read: it is nested too deeply"
            raise ResultsError(msg) from None
        except (OSError, ValueError) as error:
            msg = f"{path} cannot be read: {error}"
            raise ResultsError(msg) from None
        absent = [key for key in self.needed if not isinstance(found, dict) or key not in found]
        if absent:
            msg = f"{path} is no {self.noun} of a {self.of}: it lacks {', '.join(absent)}"
            raise ResultsError(msg)
        return dict(found)
