from __future__ import annotations

from skilleval.report.latex_table import MAX_ROWS, caption, floating
from skilleval.report.text_table import TextTable


def table(*rows: tuple[str, ...], note: str = "") -> TextTable:
    """Give a table of a text and a number."""
    return TextTable(
        name="t", title="A & B", note=note, header=("skill", "p_value"), numeric=(False, True), rows=rows
    )


def test_a_table_has_the_rules_of_booktabs() -> None:
    """Three rules, the numbers to the right, every cell escaped, the title as the caption."""
    found = floating(table(("a_b", "0.5"), ("[c]", "1 %"), note="n_eff"), label="skills")
    assert r"\begin{tabular}{@{}lr@{}}" in found
    assert [line for line in found.splitlines() if line.endswith("rule")] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]
    assert r"a\_b & 0.5 \\" in found
    assert r"{}[c] & 1 \% \\" in found
    assert r"\caption{A \& B. n\_eff}" in found
    assert r"\label{tab:skills}" in found


def test_long_texts_are_set_in_a_column_that_breaks() -> None:
    """A column of sentences does not push the numbers off the page."""
    assert r"p{4.2cm}r" in floating(table(("long " * 20, "1")), label="t")


def test_rows_that_are_left_out_are_counted() -> None:
    """A table that is cut says so."""
    found = floating(table(*((f"s{n}", "1") for n in range(MAX_ROWS + 2))), label="t")
    assert "2 more rows not shown." in found
    assert f"s{MAX_ROWS - 1} &" in found
    assert f"s{MAX_ROWS} &" not in found


def test_a_question_is_a_sentence_already() -> None:
    """A title that ends a sentence gets no further full stop."""
    assert caption("Does it depend?", "How much.") == "Does it depend? How much."
    assert caption("Skills", "How much.") == "Skills. How much."
