from __future__ import annotations

from skilleval.catalog.notices import Notices


def test_equal_notices_are_one_line_with_a_count() -> None:
    """The first key is named and the others are counted; lines keep the order in which they came up."""
    notices = Notices("b.json")
    notices.alias("tasks[0].x", "a", "b")
    notices.filled_in("domain", "general")
    notices.alias("tasks[1].x", "a", "b")
    notices.alias("tasks[2].x", "a", "b")
    assert notices.texts == (
        "b.json: tasks[0].x (and 2 more): alias: a is read as b",
        "b.json: domain: filled in: general",
    )


def test_nothing_to_say_is_no_notice() -> None:
    """Without a message there are no lines."""
    assert Notices("b.json").texts == ()


def test_remarks_are_what_nobody_would_do_on_his_own() -> None:
    """Aliases and what was filled in are routine; everything else is worth saying unasked."""
    notices = Notices("b.json")
    notices.alias("tasks[0].x", "a", "b")
    notices.filled_in("domain", "general")
    notices.add("colour", "unknown key colour")
    assert len(notices.texts) == 3
    assert notices.remarks == ("b.json: colour: unknown key colour",)
