"""What several rulings about one check come to: never a pass on less than a majority of all that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilleval.scorers.base import Finding, ungraded
from skilleval.scorers.llm_judge.asking import JUDGE_ERROR, Answer
from skilleval.scorers.llm_judge.reply import Ruling

JUDGES_DISAGREE = "judges_disagree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """The rulings about one check, with the number of the judge behind each; `causes` say why some are missing."""

    n_asked: int
    given: tuple[tuple[int, Ruling], ...]
    causes: tuple[str, ...]

    @classmethod
    def of(cls, check_id: str, answers: Sequence[Answer]) -> Ballot:
        """Collect what all answers say of a check."""
        given = [(one.judge, one.rulings[check_id]) for one in answers if check_id in one.rulings]
        causes = [one.cause for one in answers if check_id not in one.rulings]
        return cls(n_asked=len(answers), given=tuple(given), causes=tuple(dict.fromkeys(causes)))

    @property
    def rulings(self) -> list[Ruling]:
        """Those that were given."""
        return [ruling for _, ruling in self.given]

    def agreement(self, n_for: int) -> str:
        """Say how far the verdicts agree, as the share of those that say the same; empty where there is one."""
        n = len(self.given)
        if self.n_asked == 1 or n == 0:
            return ""
        return f"agreement {max(n_for, n - n_for) / n:.2f}: {n_for} of {n} verdicts say passed"

    @property
    def shortfall(self) -> str:
        """Say how many rulings are missing and why; empty where none is."""
        n = self.n_asked - len(self.given)
        return f"{n} of {self.n_asked} verdicts missing ({'; '.join(self.causes)})" if n else ""

    def silent(self) -> Finding:
        """Say that too few rulings came to decide anything."""
        missing = f"the judge gave no verdict: {'; '.join(self.causes)}"
        reason = f"too few verdicts: {self.shortfall}" if self.given else missing
        return ungraded(reason, failure_kind=JUDGE_ERROR)

    def torn(self, n_for: int) -> Finding:
        """Say that the verdicts cancel each other out."""
        several = len({judge for judge, _ in self.given}) > 1
        reason = "judges disagree" if several else "the judge disagrees with itself"
        return ungraded(f"{reason} ({self.agreement(n_for)})", failure_kind=JUDGES_DISAGREE)
