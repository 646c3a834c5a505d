"""A comparison as the summary of a step of GitHub Actions: the comment, then every table, folded."""

from __future__ import annotations

from skilleval.report import diff_comment, diff_markdown
from skilleval.report.diff_document import Diff


def render(diff: Diff) -> str:
    """Write the summary as GitHub-flavoured Markdown."""
    whole = diff_markdown.render(diff).rstrip("\n")
    folded = f"<details><summary>Every metric and flip</summary>\n\n{whole}\n\n</details>"
    return f"{diff_comment.render(diff)}\n{folded}\n"
