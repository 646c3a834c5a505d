from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.catalog.benchmarks import read_tasks
from skilleval.catalog.read import read_catalog, usable_skills
from skilleval.domain.trials import Condition
from skilleval.errors import CatalogError
from skilleval.plan import PlannedSkill, PlanOptions, build_trials

Writer = Callable[..., Path]


def test_files_folders_and_folders_of_skills_are_read(write_skill: Writer, tmp_path: Path) -> None:
    """A path may name a manifest, a skill's folder or a folder with skills at any depth."""
    one, two = write_skill("one", id="one"), write_skill("two", id="two")
    write_skill("many/b", id="b")
    write_skill("many/a/deep", id="a")
    catalog = read_catalog([one / "skill.json", two, tmp_path / "many"])
    assert [skill.id for skill in catalog.skills] == ["one", "two", "a", "b"]
    assert (catalog.problems, catalog.notices) == ((), ())


def test_a_skill_folder_is_not_searched_below(write_skill: Writer) -> None:
    """What lies inside a skill is its own affair."""
    folder = write_skill("outer", id="outer")
    write_skill("outer/inner", id="inner")
    assert [skill.id for skill in read_catalog([folder]).skills] == ["outer"]
    assert [skill.id for skill in read_catalog([folder.parent]).skills] == ["outer"]


def test_the_search_passes_over_hidden_folders_and_node_modules(write_skill: Writer, tmp_path: Path) -> None:
    """Hidden folders and node_modules are not searched, unless they are named."""
    write_skill("many/.hidden/a", id="a")
    write_skill("many/node_modules/b", id="b")
    write_skill("many/c", id="c")
    assert [skill.id for skill in read_catalog([tmp_path / "many"]).skills] == ["c"]
    assert [skill.id for skill in read_catalog([tmp_path / "many" / ".hidden"]).skills] == ["a"]


def test_the_search_ends_in_a_loop_of_links(write_skill: Writer, tmp_path: Path) -> None:
    """A link that leads back up is walked once, and a linked skill is found."""
    write_skill("many/a", id="a")
    linked = write_skill("elsewhere/b", id="b")
    (tmp_path / "many" / "b").symlink_to(linked)
    (tmp_path / "many" / "loop").symlink_to(tmp_path / "many")
    catalog = read_catalog([tmp_path / "many"])
    assert [skill.id for skill in catalog.skills] == ["a", "b"]
    assert catalog.skills[1].folder == linked.resolve()


def test_a_file_named_twice_is_read_once(write_skill: Writer) -> None:
    """File, folder, parent and link of one skill are one skill, silently."""
    folder = write_skill("many/a")
    (folder.parent / "again").symlink_to(folder)
    catalog = read_catalog([folder, folder / "skill.json", folder.parent, folder.parent / "again"])
    assert (len(catalog.skills), catalog.problems, catalog.notices) == (1, (), ())


@pytest.mark.parametrize("target", ["many", "many/a", "many/loop"])
def test_the_search_ends_in_every_loop(target: str, write_skill: Writer, tmp_path: Path) -> None:
    """A link to the folder above, to a neighbour or to itself neither hangs nor doubles a skill."""
    write_skill("many/a/deep", id="a")
    (tmp_path / "many" / "loop").symlink_to(tmp_path / target)
    (tmp_path / "many" / "a" / "back").symlink_to(tmp_path / "many" / "loop")
    assert [skill.id for skill in read_catalog([tmp_path / "many"]).skills] == ["a"]


@pytest.mark.parametrize(
    ("name", "found"), [("README.md", "a .md file"), ("LICENSE", "a file without .json")]
)
def test_a_named_file_that_is_no_manifest_is_told_from_a_broken_one(
    name: str, found: str, write_skill: Writer, tmp_path: Path
) -> None:
    """What a shell's `skills/*` names beside the skills is a problem that says what to write instead."""
    write_skill("skills/a", id="a")
    stray = tmp_path / "skills" / name
    stray.write_text("# Skills", encoding="utf-8")
    catalog = read_catalog(sorted((tmp_path / "skills").iterdir()))
    assert [skill.id for skill in catalog.skills] == ["a"]
    (problem,) = catalog.problems
    assert (problem.where, problem.expected) == (str(stray), "a skill.json or a folder")
    assert problem.found == found
    assert f"name the folder: {tmp_path / 'skills'}, or {tmp_path / 'skills'}/*/" in problem.hint


def test_a_manifest_may_have_any_name_in_json(write_skill: Writer) -> None:
    """A named file is a manifest by what it holds."""
    folder = write_skill("a", id="a")
    (folder / "skill.json").rename(folder / "mine.json")
    assert [skill.id for skill in read_catalog([folder / "mine.json"]).skills] == ["a"]


def test_es24_one_broken_file_does_not_hide_the_others(write_skill: Writer, tmp_path: Path) -> None:
    """Each broken file is reported and the good ones are there."""
    write_skill("many/a", id="A")
    write_skill("many/b", id="b")
    (write_skill("many/c") / "skill.json").write_bytes(b"{")
    (write_skill("many/d") / "skill.json").write_bytes(b"")
    catalog = read_catalog([tmp_path / "many"])
    assert [skill.id for skill in catalog.skills] == ["b"]
    assert [Path(problem.where).parent.name for problem in catalog.problems] == ["a", "c", "d"]


def test_a_stranger_found_by_the_search_is_only_noticed(write_skill: Writer, tmp_path: Path) -> None:
    """A skill.json of another kind is skipped with a notice that says what it is."""
    write_skill("many/a", id="a")
    (write_skill("many/b") / "skill.json").write_text('{"endpoints": {}}', encoding="utf-8")
    catalog = read_catalog([tmp_path / "many"])
    assert ([skill.id for skill in catalog.skills], catalog.problems) == (["a"], ())
    (notice,) = catalog.notices
    assert notice.endswith("skipped, not a skill manifest but an object with the key endpoints")


def test_a_stranger_that_was_named_is_a_problem(write_skill: Writer) -> None:
    """Who names a file as a skill is told that it is none."""
    folder = write_skill("a")
    (folder / "skill.json").write_text("[]", encoding="utf-8")
    for path in (folder, folder / "skill.json"):
        (problem,) = read_catalog([path]).problems
        assert problem.found == "a list of 0 items"


def test_a_path_that_leads_nowhere_is_a_problem(tmp_path: Path) -> None:
    """A missing path, a broken link and a folder without skills are reported."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    catalog = read_catalog([tmp_path / "none", tmp_path / "empty", tmp_path / "link"])
    assert [problem.where for problem in catalog.problems] == [
        str(tmp_path / "none"),
        str(tmp_path / "empty"),
        str(tmp_path / "link"),
    ]
    assert catalog.problems[1].found == "no skill.json"


def test_a_path_that_cannot_be_is_a_problem() -> None:
    """A name too long for the file system is told like one that is not there."""
    (problem,) = read_catalog([Path("x" * 300)]).problems
    assert (problem.where, problem.found) == ("x" * 300, "File name too long")


def test_es04_a_true_copy_is_a_problem(write_skill: Writer) -> None:
    """Id, version and content equal in two folders: the second one is refused, naming the first."""
    one, two = write_skill("one"), write_skill("two")
    catalog = read_catalog([one, two])
    assert [skill.folder for skill in catalog.skills] == [one.resolve()]
    (problem,) = catalog.problems
    assert problem.where == str((two / "skill.json").resolve())
    assert problem.found == f"a copy of {(one / 'skill.json').resolve()}"


def test_es04_one_id_with_other_content_is_another_skill(write_skill: Writer) -> None:
    """The same id with another version, or with other files, is evaluated beside the first."""
    one, two, three = write_skill("one"), write_skill("two"), write_skill("three", version="1.0.1")
    (two / "skill.py").write_bytes(b"print()")
    catalog = read_catalog([one, two, three])
    assert len({skill.digest for skill in catalog.skills}) == 3
    assert catalog.problems == ()


def test_es04_two_versions_of_one_id_share_no_trial(write_skill: Writer, write_json: Writer) -> None:
    """Each version has a condition and trials of its own, so that no row can belong to both."""
    catalog = read_catalog([write_skill("one"), write_skill("two", version="1.0.1")])
    task = {"id": "t", "inputData": {}, "expectedOutput": {"value": 1}}
    benchmark = read_tasks(write_json([task], "tasks.json")).benchmark
    planned = [
        PlannedSkill(
            skill=skill,
            condition=Condition(
                skill_id=skill.id,
                skill_version=skill.version,
                skill_digest=skill.digest,
                adapter="subprocess",
                sandbox="none",
            ),
        )
        for skill in catalog.skills
    ]
    trials = build_trials(planned, benchmark, PlanOptions(repeats=2, seed=0, timeout_ms=1000.0))
    assert [trial.skill.version for trial in trials] == ["1.0.0", "1.0.1"] * 2
    assert len({trial.condition_id for trial in trials}) == 2
    assert len({trial.trial_id for trial in trials}) == 4


def test_problems_stop_the_evaluation(write_skill: Writer, tmp_path: Path) -> None:
    """With a broken skill nothing is evaluated and every problem is named, unless it is to be skipped."""
    catalog = read_catalog([write_skill("good", id="good"), write_skill("bad", id="BAD"), tmp_path / "none"])
    with pytest.raises(CatalogError, match="--skip-invalid") as caught:
        usable_skills(catalog, skip_invalid=False)
    assert caught.value.problems == catalog.problems
    assert len(catalog.problems) == 2
    assert [skill.id for skill in usable_skills(catalog, skip_invalid=True)] == ["good"]


def test_skipping_everything_is_an_error(write_skill: Writer) -> None:
    """Where no skill is left there is nothing to evaluate, whatever may be skipped."""
    catalog = read_catalog([write_skill("bad", id="BAD")])
    with pytest.raises(CatalogError, match="no usable skill") as caught:
        usable_skills(catalog, skip_invalid=True)
    assert caught.value.problems == catalog.problems
    with pytest.raises(CatalogError, match="no usable skill"):
        usable_skills(read_catalog([]), skip_invalid=False)


def test_only_strangers_are_no_skills(write_skill: Writer, tmp_path: Path) -> None:
    """A folder that holds only files of another kind ends in an error that says what they are."""
    (write_skill("many/a") / "skill.json").write_text('{"endpoints": {}}', encoding="utf-8")
    with pytest.raises(CatalogError, match="an object with the key endpoints"):
        usable_skills(read_catalog([tmp_path / "many"]), skip_invalid=False)


def instruction_ids(root: Path, *, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    """Read the instruction skills below a folder that globs choose, and give their ids."""
    catalog = read_catalog([root], form="instruction", include=include, exclude=exclude)
    assert catalog.problems == ()
    return [skill.id for skill in catalog.skills]


def test_instruction_skills_are_found_below_a_folder(write_skill_md: Writer, tmp_path: Path) -> None:
    """Skills at any depth are found, once each; hidden, built and installed folders and nested skills are not."""
    for folder in ("b", "deep/a", "b/inner", ".git/x", ".next/x", "dist/x", "node_modules/x"):
        write_skill_md(f"many/{folder}")
    (tmp_path / "many" / "loop").symlink_to(tmp_path / "many")
    assert instruction_ids(tmp_path / "many") == ["b", "a"]
    assert instruction_ids(tmp_path / "many" / "dist") == ["x"]
    assert instruction_ids(tmp_path / "many" / "b") == ["b"]


def test_ae11_two_skills_of_one_name_have_ids_of_their_own(write_skill_md: Writer, tmp_path: Path) -> None:
    """Equal names become paths, with a notice each, and both skills are there."""
    text = "---\nname: tide\ndescription: d\n---\n"
    write_skill_md("many/one/tide", text=text)
    write_skill_md("many/two/tide", text=text)
    write_skill_md("many/wind")
    catalog = read_catalog([tmp_path / "many"], form="instruction")
    assert [skill.id for skill in catalog.skills] == ["one/tide", "two/tide", "wind"]
    assert [skill.name for skill in catalog.skills] == ["tide", "tide", "wind"]
    assert [notice.split(": ")[1] for notice in catalog.notices] == [
        "has the id one/tide, because 2 skills are called tide",
        "has the id two/tide, because 2 skills are called tide",
    ]


def test_ids_differ_over_two_roots_too(write_skill_md: Writer, tmp_path: Path) -> None:
    """Where the paths are equal as well, the whole place is the id."""
    roots = [write_skill_md(f"{root}/tide").parent for root in ("one", "two")]
    ids = [skill.id for skill in read_catalog(roots, form="instruction").skills]
    assert ids == [(tmp_path / root / "tide").as_posix() for root in ("one", "two")]


def test_ae15_a_broken_instruction_skill_does_not_hide_the_others(
    write_skill_md: Writer, tmp_path: Path
) -> None:
    """Each broken file is named and the good ones are there; strictly there are more."""
    write_skill_md("many/a", text="no frontmatter")
    write_skill_md("many/b", text="---\nname: B\ndescription: d\n---\n")
    write_skill_md("many/c")
    catalog = read_catalog([tmp_path / "many"], form="instruction")
    assert [skill.id for skill in catalog.skills] == ["B", "c"]
    assert [Path(problem.where).parent.name for problem in catalog.problems] == ["a"]
    strict = read_catalog([tmp_path / "many"], form="instruction", strict=True)
    assert [skill.id for skill in strict.skills] == ["c"]
    assert {Path(problem.where).parent.name for problem in strict.problems} == {"a", "b"}


@pytest.mark.parametrize(
    ("include", "exclude", "ids"),
    [
        (("draft-*",), (), ["draft-x", "draft-y"]),
        (("*/draft-*",), (), ["draft-y"]),
        (("**/draft-*",), (), ["draft-x", "draft-y"]),
        (("deep/**",), (), ["draft-y", "tide"]),
        (("./deep/*",), (), ["draft-y"]),
        (("ti?e",), (), ["tide"]),
        ((), ("**/draft-*",), ["tide"]),
        (("**",), ("tide",), ["draft-x", "draft-y"]),
    ],
)
def test_globs_choose_by_path_and_by_id(
    include: tuple[str, ...], exclude: tuple[str, ...], ids: list[str], write_skill_md: Writer, tmp_path: Path
) -> None:
    """One star stops at a slash, two do not and may be nothing; a skill is also known by its id."""
    for folder in ("draft-x", "deep/draft-y", "deep/er/tide"):
        write_skill_md(f"many/{folder}")
    assert sorted(instruction_ids(tmp_path / "many", include=include, exclude=exclude)) == ids


def test_a_skill_that_is_the_searched_folder_has_its_name(write_skill_md: Writer) -> None:
    """Globs fit the skill that a path names by the name of its folder."""
    folder = write_skill_md("tide", text="---\nname: other\ndescription: d\n---\n")
    assert instruction_ids(folder, include=("tide",)) == ["other"]


def test_ae14_a_pattern_from_elsewhere_is_explained(write_skill_md: Writer, tmp_path: Path) -> None:
    """Where `skills/**` is asked of ./skills, nothing fits, and the error says what to write."""
    root = write_skill_md("skills/tide").parent
    catalog = read_catalog([root], form="instruction", include=["skills/**"])
    (problem,) = catalog.problems
    assert (problem.where, problem.key) == (str(tmp_path / "skills"), "skill_set.include")
    assert (problem.expected, problem.found) == ('a skill that fits "skills/**"', "the path tide")
    assert problem.hint.endswith("write ** instead of skills/**")


def test_a_pattern_that_fits_nothing_is_named_beside_others(write_skill_md: Writer) -> None:
    """A misspelt pattern is a notice where another one fits, and excluding everything is a problem."""
    root = write_skill_md("skills/tide").parent
    catalog = read_catalog([root], form="instruction", include=["tide", "wnd"])
    assert (len(catalog.skills), catalog.notices) == (1, ("the pattern wnd fits no skill",))
    (problem,) = read_catalog([root], form="instruction", exclude=["**"]).problems
    assert (problem.key, problem.found) == ("skill_set.exclude", "the path tide")


def test_globs_choose_callable_skills_too(write_skill: Writer, tmp_path: Path) -> None:
    """One rule for both forms, and a broken skill that is not chosen is no problem."""
    write_skill("many/a", id="adder")
    write_skill("many/b", id="BROKEN")
    catalog = read_catalog([tmp_path / "many"], include=["adder"])
    assert ([skill.id for skill in catalog.skills], catalog.problems) == (["adder"], ())


def test_each_form_says_where_the_other_one_is(
    write_skill: Writer, write_skill_md: Writer, tmp_path: Path
) -> None:
    """Who searches callable skills among instructions is told of --target, and the other way round."""
    folder = write_skill_md("md/tide")
    write_skill("json/adder")
    (problem,) = read_catalog([tmp_path / "md"]).problems
    assert problem.hint == (
        "it holds an instruction skill (SKILL.md): "
        "evaluate with --target MODEL, or with benchmark=evals where model=NAME chooses a model"
    )
    (problem,) = read_catalog([folder / "SKILL.md"]).problems
    assert "--target MODEL" in problem.hint
    (problem,) = read_catalog([tmp_path / "json"], form="instruction").problems
    assert (problem.found, "without a --target" in problem.hint) == ("no SKILL.md", True)


def test_a_path_without_instruction_skills_is_a_problem(tmp_path: Path) -> None:
    """A missing path, an empty folder and a file of another name are reported."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "README.md").write_text("x")
    paths = [tmp_path / "none", tmp_path / "empty", tmp_path / "README.md", Path("x" * 300)]
    found = [problem.found for problem in read_catalog(paths, form="instruction").problems]
    assert found == ["nothing there", "no SKILL.md", "the file README.md", "File name too long"]
