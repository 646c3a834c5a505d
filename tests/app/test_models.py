from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.app.models import build_models
from skilleval.config.compose import compose_settings
from skilleval.errors import Problem, SetupError

ABSENT = "SKILLEVAL_TEST_NO_SUCH_KEY"
OPENAI = ("model=openai", "model.name=m", f"model.api_key_env={ABSENT}")
JUDGE = ("judge=openai", "judge.name=j", f"judge.api_key_env={ABSENT}")


def refused(folder: Path, *overrides: str) -> Problem:
    """Ask the judges of these settings for what they lack; give the one problem."""
    models = build_models(
        compose_settings(["skill_set=examples_md", "benchmark=evals", *overrides], project=folder).settings
    )
    with pytest.raises(SetupError) as caught:
        models.check_judges()
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("overrides", "section"),
    [
        (JUDGE, "judge"),
        ((*OPENAI, *JUDGE), "judge"),
        (OPENAI, "model"),  # the judge is the subject, so its settings are those of the model
        (tuple(text.replace("judge", "second_judge", 1) for text in JUDGE), "second_judge"),
    ],
)
def test_a_missing_key_is_told_of_by_the_settings_of_who_needs_it(
    tmp_path: Path, overrides: tuple[str, ...], section: str
) -> None:
    """Key and hint name `judge`, `second_judge`, or `model` where the judge takes over the settings of the subject."""
    problem = refused(tmp_path, *overrides)
    assert problem.key == f"{section}.api_key_env"
    assert f"; {section}.api_key_env=''" in problem.hint
    assert ABSENT in problem.hint
