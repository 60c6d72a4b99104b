"""What ``trivium build`` says of shards and clusters before anything is made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trivium.cli.app import app


def refused(folder: Path, *options: str, store: str = "store") -> str:
    """What a build says that is refused; it has made nothing."""
    (folder / "note.md").write_text("# Note\n\nText.\n")
    where = store if "://" in store else str(folder / store)
    done = CliRunner().invoke(
        app, ["build", str(folder / "note.md"), "--store", where, *options], env={"COLUMNS": "300"}
    )
    assert done.exit_code != 0 and [path.name for path in folder.iterdir()] == ["note.md"]
    return done.output + (str(done.exception) if done.exception else "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shard-size", "5"], "name --shards or --ray"),
        (["--shards", "made", "--shard-size", "0"], "--shard-size"),
        (["--shards", "made", "--watch"], "a build by shards ends"),
        (["--into", "2", "--watch"], "a build by shards ends"),
        (["--into", "2", "--images", "clip"], "not together with --images: embed pictures afterwards"),
        (["--into", "0"], "--into"),
        (["--ray", "nonsense"], "expected auto, local or HOST:PORT of a Ray cluster, got 'nonsense'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: list[str], said: str, tmp_path: Path) -> None:
    assert said in refused(tmp_path, *options)


def test_the_shards_of_a_database_need_a_folder(tmp_path: Path) -> None:
    assert "a folder that all nodes of the cluster see" in refused(
        tmp_path, "--ray", "auto", store="bolt://localhost:1"
    )


def test_without_ray_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'trivium[ray]'" in refused(tmp_path, "--ray", "auto")


def test_a_build_by_shards_leaves_them_beside_its_result(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n")
    shards = tmp_path / "shards"
    command = ["build", str(tmp_path / "note.md"), "--no-embed", "--store", str(tmp_path / "store")]
    done = CliRunner().invoke(app, [*command, "--shards", str(shards)])
    assert done.exit_code == 0, done.output
    assert (
        len(list(shards.glob("*/*.pages"))) == 1 and "may be deleted" in (shards / "shards.txt").read_text()
    )


@pytest.mark.parametrize(
    ("new", "said"), [("1", ("stands for 1 store\n", "0 documents")), ("2", ("stands for 2 stores\n",))]
)
def test_one_store_is_no_stores(new: str, said: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    done = CliRunner().invoke(app, ["shards", "create", str(tmp_path / "parts"), "--new", new])
    assert done.exit_code == 0, done.output
    assert all(part in done.output for part in said)
