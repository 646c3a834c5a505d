from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skilleval.sandboxes.base import Command
from skilleval.sandboxes.view import View, installation, lies_within, refusal_of, view_of

SHELL = Path("/bin/sh")


@pytest.mark.parametrize("path", ["/", "/a", "/a/b", "/ab", "/a/b/c", "a", "a/b", "//a/b"])
@pytest.mark.parametrize("folder", ["/", "/a", "/a/b", "a", "//a", "/b"])
def test_a_path_lies_within_what_it_is_relative_to(path: str, folder: str) -> None:
    """The quick question has the answer of the slow one, also at names that only begin alike."""
    assert lies_within(Path(path), Path(folder)) == Path(path).is_relative_to(folder)


def _command(folder: Path, *, reads: tuple[Path, ...] = (), writes: tuple[Path, ...] = ()) -> Command:
    return Command(
        argv=("sh",),
        folder=folder,
        env={},
        stdin=b"",
        timeout_s=1.0,
        max_output_bytes=1,
        reads=reads,
        writes=writes,
    )


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def _python(root: Path) -> Path:
    """Make what looks like an installation of Python."""
    (root / "lib" / "python3.11").mkdir(parents=True)
    (root / "lib" / "python3.11" / "os.py").touch()
    return _program(root / "bin" / "python3")


def test_a_program_of_the_system_sees_its_folder_and_nothing_more(tmp_path: Path) -> None:
    """What the system brings is there anyway; of the rest only the skill's own folder is shown."""
    skill = _folder(tmp_path / "skill")
    assert view_of(_command(skill), SHELL, further=(), hidden=()) == View(
        reads=(skill,), writes=(), covered=()
    )


def test_a_command_and_the_settings_add_to_what_is_seen(tmp_path: Path) -> None:
    """Reads of both are shown read-only where they exist, writes can be written to; what is inside is not repeated."""
    skill, data, work = (_folder(tmp_path / name) for name in ("skill", "data", "work"))
    inner = _folder(data / "inner")
    command = _command(skill, reads=(inner, tmp_path / "absent", Path("/usr/share")), writes=(work,))
    view = view_of(command, SHELL, further=(data,), hidden=())
    assert view == View(reads=(skill, data), writes=(work,), covered=())


@pytest.mark.parametrize("is_there", [True, False])
def test_what_is_hidden_is_covered_where_it_lies_inside_something_shown(
    tmp_path: Path, *, is_there: bool
) -> None:
    """Results in a skill's folder are covered once they exist; what is elsewhere is not seen anyway."""
    skill, elsewhere = _folder(tmp_path / "skill"), _folder(tmp_path / "elsewhere")
    results = skill / "outputs"
    if is_there:
        results.mkdir()
    view = view_of(_command(skill), SHELL, further=(), hidden=(results, elsewhere))
    assert view.covered == ((results,) if is_there else ())


def test_what_is_shown_on_purpose_is_not_covered(tmp_path: Path) -> None:
    """A skill below another one still sees itself; a folder of ours inside hidden ones stays open."""
    outer = _folder(tmp_path / "outer")
    skill = _folder(outer / "skill")
    work = _folder(outer / "outputs" / "work")
    hidden = (outer, skill, outer / "outputs")
    assert view_of(_command(skill, writes=(work,)), SHELL, further=(), hidden=hidden).covered == ()
    of_outer = view_of(_command(outer, writes=(work,)), SHELL, further=(), hidden=hidden)
    assert of_outer.covered == (skill, outer / "outputs")
    assert of_outer.shows(outer)
    assert not of_outer.shows(skill / "bin")


def test_hidden_paths_are_found_behind_links(tmp_path: Path) -> None:
    """A skill that is reached by a link does not see results that are named by their real path."""
    skill = _folder(tmp_path / "real" / "skill")
    results = _folder(skill / "outputs")
    link = tmp_path / "link"
    link.symlink_to(skill)
    view = view_of(_command(link), SHELL, further=(), hidden=(results,))
    assert (view.reads, view.covered) == ((link,), (link / "outputs",))


def test_an_installation_is_shown_as_a_whole(tmp_path: Path) -> None:
    """An interpreter outside the system needs its library."""
    assert installation(_python(tmp_path / "python")) == (tmp_path / "python",)


def test_a_virtual_environment_is_shown_with_what_it_was_made_from(tmp_path: Path) -> None:
    """Both the environment and its base are seen, and links between them are followed."""
    real = _python(tmp_path / "base")
    program = _folder(tmp_path / "venv" / "bin") / "python"
    program.symlink_to(real)
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {real.parent}\nversion = 3.11\n")
    assert installation(program) == (tmp_path / "venv", tmp_path / "base")


def test_a_folder_of_programs_is_not_an_installation(tmp_path: Path) -> None:
    """What stands beside a program may be private: only the program itself is shown."""
    program = _program(tmp_path / "private" / "bin" / "tool")
    (tmp_path / "private" / "share").mkdir()
    assert installation(program) == (program,)


@pytest.mark.parametrize("name", ["own", "link"])
def test_of_the_folder_where_a_user_installs_only_programs_are_shown(tmp_path: Path, name: str) -> None:
    """An interpreter that was unpacked there stands beside keyrings and histories of other programs."""
    root = tmp_path / "home" / ".local"
    _python(root)
    (root / "share" / "keyrings").mkdir(parents=True)
    (tmp_path / "own").symlink_to(root)
    (tmp_path / "link").symlink_to(tmp_path / "own")
    skill = _folder(tmp_path / "skill")
    view = view_of(_command(skill), tmp_path / name / "bin" / "python3", further=(), hidden=())
    assert view.shows(root / "lib" / "python3.11")
    assert view.shows(tmp_path / name / "bin" / "python3")
    assert not any((root / "share").is_relative_to(path) for path in view.reads)
    assert not view.shows(root / "share" / "keyrings")


def test_a_home_folder_is_never_an_installation() -> None:
    """Whatever lies in it, the folder of a user is not shown because of a program in it."""
    assert installation(Path.home() / "bin" / "python3") == (Path.home() / "bin" / "python3",)


def test_a_link_of_a_skill_opens_no_single_file_elsewhere(tmp_path: Path) -> None:
    """A skill that calls somebody's secret its program is not shown the secret."""
    skill = _folder(tmp_path / "skill")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (skill / "tool").symlink_to(secret)
    assert view_of(_command(skill), skill / "tool", further=(), hidden=()).reads == (skill,)


def test_a_program_file_among_the_reads_brings_its_installation(tmp_path: Path) -> None:
    """A launcher that a command shows to the program can run there."""
    skill, program = _folder(tmp_path / "skill"), _python(tmp_path / "python")
    view = view_of(_command(skill, reads=(program,)), SHELL, further=(), hidden=())
    assert view.reads == (skill, tmp_path / "python")


def test_this_python_can_be_shown_without_a_home_folder() -> None:
    """The interpreter that runs the tests lies in the system or in an installation of its own."""
    for root in installation(Path(sys.executable)):
        assert not Path.home().is_relative_to(root)


def test_a_link_to_the_root_is_no_installation(tmp_path: Path) -> None:
    """A folder is judged by where it really is: the root stays closed under any name."""
    root = tmp_path / "root"
    root.symlink_to("/")
    assert tmp_path not in installation(root / "bin" / "sh")
    assert not {Path("/"), root} & set(installation(root / "bin" / "sh"))


def test_settings_in_a_skill_lead_nowhere(tmp_path: Path) -> None:
    """Neither a skill's own `pyvenv.cfg` nor its landmarks open anything beyond its folder."""
    skill, other = _folder(tmp_path / "skill"), _python(tmp_path / "other")
    program = _program(skill / "bin" / "prog")
    (skill / "conda-meta").mkdir()
    (skill / "pyvenv.cfg").write_text(f"home = {other.parent}\n")
    assert view_of(_command(skill), program, further=(), hidden=()).reads == (skill,)


def test_a_virtual_environment_is_not_followed_to_what_is_no_interpreter(tmp_path: Path) -> None:
    """Its base must bring the library of Python: a folder with settings files could be anybody's project."""
    program = _program(tmp_path / "venv" / "bin" / "python")
    project = _folder(tmp_path / "project")
    (project / "pyvenv.cfg").touch()
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {project}/bin\n")
    assert installation(program) == (tmp_path / "venv",)


@pytest.mark.parametrize("home", ["/", "/proc/self/root", "/proc/self/cwd", str(Path.home())])
def test_a_base_is_never_too_much(tmp_path: Path, home: str) -> None:
    """The root, a home and the folders of the kernel are no base, whatever a settings file says."""
    program = _program(tmp_path / "venv" / "bin" / "python")
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {home}/bin\n")
    assert installation(program) == (tmp_path / "venv",)


def test_a_link_of_a_skill_leads_to_a_whole_interpreter_only(tmp_path: Path) -> None:
    """A virtual environment inside a skill runs; a link into a project with settings files opens nothing."""
    skill, real = _folder(tmp_path / "skill"), _python(tmp_path / "base")
    project = _program(tmp_path / "project" / "bin" / "tool")
    (tmp_path / "project" / "pyvenv.cfg").touch()
    (skill / "python").symlink_to(real)
    (skill / "tool").symlink_to(project)
    assert view_of(_command(skill), skill / "python", further=(), hidden=()).reads == (
        skill,
        tmp_path / "base",
    )
    assert refusal_of("./python", skill) is None
    assert view_of(_command(skill), skill / "tool", further=(), hidden=()).reads == (skill,)
    assert "leads out" in str(refusal_of("./tool", skill))


def test_an_interpreter_that_holds_the_skill_is_not_shown_by_a_link_of_it(tmp_path: Path) -> None:
    """What lies around a skill is its author's: a library put there does not open the neighbours."""
    _python(tmp_path / "pack")
    skill = _folder(tmp_path / "pack" / "skill")
    (skill / "python").symlink_to("../bin/python3")
    assert installation(skill / "python", skill=skill) == ()
    assert "leads out" in str(refusal_of("./python", skill))


@pytest.mark.parametrize(
    ("word", "is_refused"),
    [
        ("sh", False),
        ("/bin/sh", False),
        ("./tool", False),
        ("bin/../tool", False),
        ("../tool", True),
        ("../../../../../../../bin/sh", True),
        ("/proc/self/root/bin/sh", True),
        ("/proc/self/cwd/tool", True),
        ("/usr/../proc/1/root/bin/sh", True),
        ("/dev/fd/3", True),
    ],
)
def test_a_relative_program_stays_in_its_folder(tmp_path: Path, word: str, is_refused: bool) -> None:
    """Names and absolute paths are free, but no path leads through the folders of the kernel."""
    _program(tmp_path / "tool")
    assert (refusal_of(word, tmp_path) is not None) == is_refused
