"""The door of the program: `skilleval` and `python -m skilleval`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it; Ctrl-C while it loads is an interruption like any other."""
    try:
        from skilleval.cli import main as run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
