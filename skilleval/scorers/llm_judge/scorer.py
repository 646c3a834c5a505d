"""The scorer: which form a task asks for, what the judges are shown, and what their answers come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from skilleval.clock import Clock
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.findings import no_output
from skilleval.scorers.llm_judge.asking import NO_JUDGES, Answer, Asking, Judges, Question
from skilleval.scorers.llm_judge.assertions import (
    Assertion,
    about_assertion,
    asserted,
    assertion_finding,
    read_rulings,
)
from skilleval.scorers.llm_judge.evidence import Quotable
from skilleval.scorers.llm_judge.fencing import Fence, Part
from skilleval.scorers.llm_judge.options import LlmJudgeOptions
from skilleval.scorers.llm_judge.prompt import (
    ASSERTIONS_SYSTEM,
    LABEL_SYSTEM,
    PROMPT_VERSION,
    SCORE_SYSTEM,
    assertions_prompt,
    assertions_schema,
    output_text,
    parts_shown,
    rubric_prompt,
    rubric_schema,
)
from skilleval.scorers.llm_judge.rubric import (
    CHECK_ID,
    Rubric,
    UnusableLabelsError,
    rubric_finding,
    rubric_of,
)
from skilleval.scorers.options import with_task_options
from skilleval.scorers.values import parts

_NO_JUDGE = "no judge is configured: name a model with `--judge MODEL` or `judge=…`"
_TOO_DEEP = "the output is nested too deeply to be shown to a judge"
_NOTHING = "nothing to check: the task has neither assertions nor a `judgePrompt`, and `rubric` is empty"


class LlmJudgeScorer:
    """Has a model judge: the assertions of a task where it has some, else a rubric.

    A judge that cannot be reached, or whose reply cannot be used after it was asked once more, leaves the check
    ungraded, whatever the attempt is worth. Who the judges are is an option here: another judge scores anew.
    """

    Options = LlmJudgeOptions
    needs_judge = True

    def __init__(
        self, options: LlmJudgeOptions, judges: Judges = NO_JUDGES, clock: Clock | None = None
    ) -> None:
        self._options = options
        self._judges = judges
        self._clock = clock or Clock()
        roles = {"judge": judges.first, "second_judge": judges.second}
        models = {
            role: None if judge is None else {"model": judge.model, "identity": judge.identity}
            for role, judge in roles.items()
        }
        self.info = ScorerInfo(
            kind="llm_judge", version=PROMPT_VERSION, options={**options.model_dump(), **models}
        )

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give a finding an assertion, else one for the rubric."""
        options = with_task_options(record, self.info.kind, self._options)
        assertions = asserted(record)
        try:
            if assertions:
                return await self._by_assertions(record, assertions, options)
            return await self._by_rubric(record, options)
        except RecursionError:
            nothing = ungraded(_TOO_DEEP)
            return tuple(about_assertion(one, nothing) for one in assertions) or (nothing,)

    def is_costly(self, record: ScoringRecord) -> bool:
        """Say whether a judge is asked: there is one, and something to show."""
        return self._unasked(record) is None

    async def _by_assertions(
        self, record: ScoringRecord, assertions: Sequence[Assertion], options: LlmJudgeOptions
    ) -> tuple[Finding, ...]:
        unasked = self._unasked(record)
        if unasked is not None:
            return tuple(about_assertion(one, unasked) for one in assertions)
        shown = parts_shown(record, options)
        fence = _fence(record, shown)
        orders = (
            [assertions, assertions[::-1]] if options.swap_order and len(assertions) > 1 else [assertions]
        )
        question = Question(
            purpose="assertions",
            system=ASSERTIONS_SYSTEM,
            orders=tuple(assertions_prompt(order, shown, fence) for order in orders),
            schema=assertions_schema([one["id"] for one in assertions]),
            read=partial(read_rulings, assertions=assertions, quotable=_quotable(record)),
            trial_id=record.trial_id,
            seed=record.seed,
        )
        answers = await self._answers(question, options)
        return _judged([assertion_finding(one, answers) for one in assertions], answers)

    async def _by_rubric(self, record: ScoringRecord, options: LlmJudgeOptions) -> tuple[Finding, ...]:
        try:
            rubric = rubric_of(record, options)
        except UnusableLabelsError as error:
            return (ungraded(str(error), check_id=CHECK_ID),)
        if rubric is None:
            return (ungraded(_NOTHING),)
        unasked = self._unasked(record)
        if unasked is not None:
            return (replace(unasked, check_id=CHECK_ID, check=rubric.check),)
        question = Question(
            purpose="rubric",
            system=LABEL_SYSTEM if rubric.labels else SCORE_SYSTEM,
            orders=_rubric_orders(record, rubric, options),
            schema=rubric_schema(list(rubric.labels)),
            read=rubric.read,
            trial_id=record.trial_id,
            seed=record.seed,
        )
        answers = await self._answers(question, options)
        finding = rubric_finding(answers, options.min_score)
        return _judged([replace(finding, check_id=CHECK_ID, check=rubric.check)], answers)

    def _unasked(self, record: ScoringRecord) -> Finding | None:
        """Give the finding of an attempt that no judge need or can be asked about. An empty text is an output."""
        if not self._judges.all:
            return ungraded(_NO_JUDGE)
        return no_output() if record.output is MISSING and not record.tool_calls else None

    async def _answers(self, question: Question, options: LlmJudgeOptions) -> tuple[Answer, ...]:
        return await Asking(self._judges, options, self._clock).answers(question)


def _judged(findings: Sequence[Finding], answers: Sequence[Answer]) -> tuple[Finding, ...]:
    """Lay the calls of the judges to the first finding they decided."""
    judgements = tuple(judgement for answer in answers for judgement in answer.judgements)
    return (replace(findings[0], judgements=judgements), *findings[1:])


def _fence(record: ScoringRecord, shown: Sequence[Part]) -> Fence:
    return Fence.around_all(record.trial_id, [part.text for part in shown])


def _rubric_orders(record: ScoringRecord, rubric: Rubric, options: LlmJudgeOptions) -> tuple[str, ...]:
    """Write the question with what is shown in order and, where wanted, in reverse order."""
    shown = parts_shown(record, options)
    named = parts_shown(record, options.model_copy(update={"show_input": True}))
    fence = _fence(record, named)
    texts = [rubric_prompt(rubric.text, rubric.wanted, order, fence, named) for order in (shown, shown[::-1])]
    return tuple(dict.fromkeys(texts if options.swap_order else texts[:1]))


def _quotable(record: ScoringRecord) -> Quotable:
    """Give what may be quoted: the output as it is and as JSON, calls of tools with their arguments, files."""
    leaves = [part for part in parts(record.output) if isinstance(part, str)]
    calls = [str(call.get(key, "")) for call in record.tool_calls or () for key in ("name", "arguments")]
    files = [text for file in record.files for text in (file.name, file.text or "")]
    return Quotable([output_text(record.output), *leaves, *calls, *files])
