from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.errors import ResultsError
from skilleval.results.places import Address, address_of, is_elsewhere, local_place, shown_place
from skilleval.results.places.spool import listed


@pytest.mark.parametrize(
    ("text", "bucket", "key"),
    [
        ("s3://results", "results", ""),
        ("s3://results/", "results", ""),
        ("s3://results/study/one", "results", "study/one"),
        (str(Path("s3://results/study/one")), "results", "study/one"),
        ("s3://results/a b/ü", "results", "a b/ü"),
    ],
)
def test_an_address_is_read_as_text_and_as_path(text: str, bucket: str, key: str) -> None:
    """A path keeps one of the two slashes; it is the same address."""
    assert Address.read(text) == Address(bucket, key)


@pytest.mark.parametrize("text", ["outputs", "/srv/s3", "s3", "./s3:/x", "C:/x", "a:b", ""])
def test_an_ordinary_path_is_no_address(text: str) -> None:
    """Folders stay what they are."""
    assert not is_elsewhere(text)
    assert local_place(text) == Path(text)
    assert address_of(Path(text)) is None


@pytest.mark.parametrize(
    "text",
    ["s3://", "s3:///x", "s3://key:secret@results/x", "s3://results/../x", "gs://results", "https://h/x"],
)
def test_an_address_that_cannot_be_used_is_refused_and_not_repeated(text: str) -> None:
    """What might hold a key is not shown."""
    with pytest.raises(ResultsError, match="cannot be stored there") as refused:
        Address.read(text)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("address", ["s3://results", "s3://results/study", "s3://results/a b/100%/ü"])
def test_a_folder_of_the_spool_says_its_address(address: str) -> None:
    """Address and twin name each other, so that nothing has to be noted."""
    assert str(address_of(local_place(address))) == address


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../b", "a//b", ""])
def test_a_manifest_lists_nothing_outside_of_its_run(name: str) -> None:
    """A manifest from elsewhere cannot make us write anywhere else."""
    with pytest.raises(ResultsError, match="outside"):
        listed({"objects": {name: {"object": "x", "sha256": "0"}}})
    with pytest.raises(ResultsError, match="outside"):
        listed({"objects": {"x": {"object": name, "sha256": "0"}}})


def test_an_ordinary_folder_needs_no_library_of_an_object_store() -> None:
    """Finding runs in a folder loads neither s3fs nor botocore."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom skilleval.results.find import runs\n"
        "runs(Path('.'))\nassert not {'s3fs', 'botocore', 'fsspec'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("library", ["s3fs", "botocore", "fsspec"])
def test_an_address_without_the_extra_says_what_to_install(library: str) -> None:
    """What is missing is told with the command that installs it, and without a traceback."""
    program = (
        f"import sys\nsys.modules[{library!r}] = None\nfrom skilleval.cli import run\n"
        "sys.exit(run(['report', 'show', 'latest', '--store', 's3://results/study']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'skilleval[s3]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("make", [str, Path, local_place], ids=["text", "path", "spool"])
def test_a_place_is_shown_as_it_is_written(make: Callable[[str], str | Path]) -> None:
    """A path of an address has lost a slash, a folder of the spool looks like none: both are shown as the address."""
    assert shown_place(make("s3://results/study/a b")) == "s3://results/study/a b"


def test_a_folder_is_shown_as_it_is() -> None:
    """What is no address stays as it was said."""
    assert [shown_place("out/x"), shown_place(Path("out"))] == ["out/x", "out"]
