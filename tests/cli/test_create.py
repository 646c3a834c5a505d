from __future__ import annotations

from pathlib import Path

import pytest
from apis import open_shop, shop_api, write_api
from cli.conftest import Run
from small_skills import said

from skilleval.adapters import ADAPTERS

_SHOUTS = {
    "python_script": ("skill.py", "upper()"),
    "http_request": ("server.py", "upper()"),
    "mcp_tool": ("server.py", "upper()"),
}


@pytest.mark.parametrize("template", sorted(_SHOUTS))
def test_es33_a_created_skill_passes_its_starter_and_fails_it_when_broken(
    tmp_path: Path, template: str
) -> None:
    """Create, evaluate, break, mend: the starter benchmark sees each difference."""
    if template == "http_request":
        assert "http" in ADAPTERS, "the template http_request needs the adapter http"
    made = said(
        "create", "--name", "my-skill", "--from-template", template, "--output-dir", tmp_path, "--json"
    )
    assert made.code == 0, made.err
    own = tmp_path / "my-skill"
    evaluate = ["eval", own, "--tasks", own / "tests" / "basic.eval.json"]
    assert made.document["next"] == " ".join(["skilleval", *map(str, evaluate)])
    evaluate += ["--output-dir", tmp_path / "runs", "--json"]
    good = said(*evaluate)
    assert good.code == 0, good.err
    (row,) = good.document["summary"]
    assert (row["skill_id"], row["benchmark_id"]) == ("my-skill", "my-skill-basic")
    assert (row["completion_rate"], row["n_trials"]) == (1.0, 3)
    name, shout = _SHOUTS[template]
    whole = (own / name).read_text(encoding="utf-8")
    for broken in (whole.replace(shout, "lower()"), f"{whole}\n)"):
        (own / name).write_text(broken, encoding="utf-8")
        (row,) = said(*evaluate).document["summary"]
        assert (row["completion_rate"], row["n_trials"]) == (0.0, 3)
    (own / name).write_text(whole, encoding="utf-8")
    assert said(*evaluate).document["summary"][0]["completion_rate"] == 1.0


@pytest.mark.parametrize("template", sorted(_SHOUTS))
def test_a_created_skill_answers_mistakes_as_the_protocol_says(tmp_path: Path, template: str) -> None:
    """A wrong input is an error of the skill with its reason, not a crash."""
    said("create", "--name", "a", "--from-template", template, "--output-dir", tmp_path)
    done = said("task", "--skill", tmp_path / "a", "--input", '{"query": 3}', "--json")
    assert (done.code, done.document["status"]) == (3, "skill_error")
    assert "query must be a text" in done.document["message"]


def test_the_default_template_is_http_and_the_description_is_written(run: Run, folder: Path) -> None:
    """What section of the manifest is not asked for is filled in."""
    done = run("create", "--name", "web", "--description", "Answers over HTTP")
    assert done.code == 0, done.err
    manifest = (folder / "skills" / "web" / "skill.json").read_text()
    assert '"adapterType": "http"' in manifest
    assert '"description": "Answers over HTTP"' in manifest


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--name", "a", "--from-template", "mcp_script"],
            "one of http_request, mcp_tool, node_script, python_script",
        ),
        (["--name", ""], "needs a name"),
        ([], "--name"),
    ],
)
def test_what_cannot_be_created_exits_2_and_leaves_nothing(
    folder: Path, arguments: list[str], expected: str
) -> None:
    """An unknown template names the known ones."""
    done = said("create", "--output-dir", folder / "new", *arguments)
    assert done.code == 2
    assert expected in done.err
    assert list(folder.iterdir()) == []


def test_es28_a_second_skill_of_the_name_is_refused_and_no_name_leaves_the_folder(
    run: Run, folder: Path
) -> None:
    """The first stays as it is; a name that is a path or an option makes a folder like any other."""
    for name in ("../../x", "--help"):
        assert run("create", "--name", name, "--output-dir", "deep/skills").code == 0
    assert sorted(path.name for path in (folder / "deep" / "skills").iterdir()) == [
        "help-0bdbc8fb",
        "x-9cdf6a50",
    ]
    assert [path.name for path in folder.iterdir()] == ["deep"]
    again = said("create", "--name", "--help", "--output-dir", folder / "deep" / "skills")
    assert again.code == 2
    assert "never overwritten" in again.err


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_the_skills_of_an_api_pass_their_starters_until_its_answers_break_its_schemas(
    tmp_path: Path, version: str
) -> None:
    """Against a real server whose document is the input: path, query, header and body all arrive."""
    with open_shop() as shop:
        document = write_api(tmp_path / "shop.json", shop_api(shop.url, version=version, is_open=True))
        made = said("create", "--from-openapi", document, "--output-dir", tmp_path / "skills", "--json")
        assert made.code == 0, made.err
        assert [one["id"] for one in made.document["skills"]] == ["list-teas", "add-tea", "put-teas-tea-id"]
        for lies, rate in ((False, 1.0), (True, 0.0)):
            shop.lies = lies
            for one in made.document["skills"]:
                starter = f"{one['folder']}/tests/basic.eval.json"
                done = said(
                    "eval", one["folder"], "--tasks", starter, "--output-dir", tmp_path / "runs", "--json"
                )
                assert done.code == 0, done.err
                (row,) = done.document["summary"]
                assert (row["n_graded"], row["n_skill_error"], row["completion_rate"]) == (1, 0, rate)
        asked = ["GET /v1/teas?kind=green&kind=black", "POST /v1/teas", "PUT /v1/teas/7"]
        assert shop.asked == asked * 2


def test_the_token_of_an_api_is_named_in_its_skills_and_read_from_the_environment(
    run: Run, folder: Path, environment: dict[str, str]
) -> None:
    """Without the variable nothing is asked; with it the skill is let in, and no file holds the token."""
    with open_shop() as shop:
        shop.key = "earl-grey-4711"
        document = write_api(folder / "shop.json", shop_api(shop.url))
        made = said("create", "--from-openapi", document, "--output-dir", folder / "skills", "--json")
        command = made.document["next"].split()[1:]
        refused = said(*command)
        assert refused.code == 2
        assert "export SKILLEVAL_TEA_SHOP_KEY=" in refused.err
        assert shop.asked == []
        environment["SKILLEVAL_TEA_SHOP_KEY"] = shop.key
        done = run(*command, "--json")
        assert done.document["summary"][0]["completion_rate"] == 1.0
        texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        assert not [text for text in texts if shop.key.encode() in text]


def test_a_dry_run_lists_what_would_be_made_and_what_is_left_out(run: Run, folder: Path) -> None:
    """For people and as a document; nothing is written, and a second real run keeps everything."""
    write_api(folder / "shop.json", shop_api("http://127.0.0.1:9"))
    dry = run("create", "--from-openapi", "shop.json", "--dry-run")
    assert dry.code == 0, dry.err
    assert dry.out.splitlines() == [
        "to make:  skills/list-teas (GET /teas)",
        "to make:  skills/add-tea (POST /teas)",
        "to make:  skills/put-teas-tea-id (PUT /teas/{teaId})",
        "left out: DELETE /teas/{teaId}: its answer has no content",
    ]
    assert [path.name for path in folder.iterdir()] == ["shop.json"]
    real = said("create", "--from-openapi", folder / "shop.json", "--output-dir", folder / "a", "--json")
    assert real.document["left_out"] == [
        {"operation": "DELETE /teas/{teaId}", "reason": "its answer has no content"}
    ]
    again = said("create", "--from-openapi", folder / "shop.json", "--output-dir", folder / "a")
    assert [line[:9] for line in again.out.splitlines()] == ["kept:    "] * 3 + ["left out:"]


def test_what_has_to_be_seen_to_is_said(folder: Path) -> None:
    """An input that could not be made up, for one."""
    value = shop_api("http://127.0.0.1:9")
    value["components"]["schemas"]["Tea"]["properties"]["name"] = {"type": "string", "pattern": "^[0-9]+$"}
    document = write_api(folder / "shop.json", value)
    done = said("create", "--from-openapi", document, "--output-dir", folder / "skills", "--dry-run")
    told = "tests/basic.eval.json: a text was made up that does not match ^[0-9]+$"
    assert f"see to:   {folder}/skills/add-tea: {told}" in done.out.splitlines()


def test_a_malformed_document_is_one_error_with_file_and_key(folder: Path) -> None:
    """Also as JSON; nothing is made."""
    value = shop_api("http://127.0.0.1:9")
    del value["paths"]["/teas/{teaId}"]["parameters"][0]["name"]
    document = write_api(folder / "shop.json", value)
    done = said("create", "--from-openapi", document, "--output-dir", folder / "skills", "--json")
    assert done.code == 2
    (problem,) = done.document["problems"]
    assert (problem["where"], problem["key"]) == (str(document), 'paths["/teas/{teaId}"].parameters[0].name')
    assert not (folder / "skills").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--from-openapi", "a.json", "--name", "x"], "--name: expected no such option with --from-openapi"),
        (["--from-openapi", "a.json", "--from-template", "x"], "--from-template: expected no such option"),
        (["--name", "x", "--dry-run"], "--dry-run: expected it with --from-openapi only"),
        (["--name", "x", "--base-url", "http://h"], "--base-url: expected it with --from-openapi only"),
        (["--from-openapi", "none.json"], "none.json: expected a file that can be read"),
        (["--from-openapi", "none.json", "--base-url", "h"], "--base-url: expected an address such as"),
    ],
)
def test_options_without_effect_are_refused(folder: Path, arguments: list[str], expected: str) -> None:
    """What belongs to templates does not go with a document, and the other way round."""
    done = said("create", "--output-dir", folder / "new", *arguments)
    assert done.code == 2
    assert expected in done.err
    assert list(folder.iterdir()) == []
