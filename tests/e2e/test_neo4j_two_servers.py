"""Two `trivium serve` processes on one Neo4j database, one of them through the routing driver: what is changed through
one shows in the next answer of the other, and changes through both at once are all made.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.e2e.conftest import Run
from tests.e2e.served import ready, serve
from tests.neo4j_servers import Server, log_in
from tests.neo4j_wipe import wipe
from tests.server.world import RECORDS
from tests.waiting import until

pytestmark = pytest.mark.slow

EACH = 6
"""Documents that each of both servers is sent at once."""
PAIR = ("bolt", "neo4j")
"""The drivers of both."""


@pytest.fixture(scope="module")
def servers(
    neo4j_2026: Server, trivium: Run, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """The addresses of both, in front of a database with four records. Each has read it into memory."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    with pytest.MonkeyPatch.context() as patch:
        log_in(patch, neo4j_2026)
        patch.setenv("XDG_STATE_HOME", str(folder))
        wipe(neo4j_2026)
        stores = [neo4j_2026.bolt.replace("bolt", scheme, 1) for scheme in PAIR]
        built = trivium("build", folder / "records.jsonl", "--store", stores[0], "--embedder", "minilm")
        assert built.code == 0, built.err
        with (
            serve(stores[0], log=subprocess.DEVNULL) as (_, first),
            serve(stores[1], log=subprocess.DEVNULL) as (_, second),
        ):
            for address in (first, second):
                ready(address)
            yield first, second


def search(address: str, question: str) -> set[str]:
    """The pages found."""
    answer = requests.post(f"{address}search", json={"question": question, "k": 5}, timeout=60)
    assert answer.status_code == 200, answer.text
    return {hit["page"] for hit in answer.json()["hits"]}


def settle(address: str) -> None:
    """Ask until the store has been read into memory, or could have been: three questions about a state that is older than
    a second."""
    until(lambda: all(search(address, f"Who found moon {number}?") for number in range(3)))


def add(address: str, *titles: str) -> list[str]:
    """Begin to add a document of each title, and return the addresses of the jobs."""
    jobs = []
    for title in titles:
        text = f"# {title}\n\nThe comet {title} was first seen by a sailor. See [[Mars]] and [[{title} nucleus]].\n"
        sent = requests.post(
            f"{address}documents",
            files={"files": (f"{title}.md", text.encode(), "text/markdown")},
            timeout=60,
        )
        assert sent.status_code == 202, sent.text
        jobs.append(f"{address}jobs/{sent.json()['id']}")
    return jobs


def done(job: str) -> Any:
    """Wait until a job has ended well, and return it."""
    until(lambda: requests.get(job, timeout=60).json()["state"] not in ("queued", "running"), seconds=120)
    ended = requests.get(job, timeout=60).json()
    assert ended["state"] == "done", ended
    return ended


@pytest.mark.parametrize("through", [0, 1])
def test_a_change_through_one_shows_in_the_next_answer_of_the_other(
    servers: tuple[str, str], through: int
) -> None:
    """Added, replaced, removed: both times with what the other one has read into memory before."""
    writer, reader = servers[through], servers[1 - through]
    title = f"Encke{through}"
    question = f"Who first saw the comet {title}?"
    for _ in range(2):
        settle(reader)
        assert title not in search(reader, question)
        done(*add(writer, title))
        assert title in search(reader, question)
        assert title in search(writer, question)
        settle(reader)
        assert title in search(reader, question)
        removed = requests.delete(f"{writer}documents/{title}", timeout=60)
        assert removed.status_code == 202, removed.text
        done(f"{writer}jobs/{removed.json()['id']}")
        assert title not in search(reader, question)
        assert title not in search(writer, question)


def test_changes_through_both_at_once_are_all_made(
    servers: tuple[str, str], neo4j_2026: Server, trivium: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both name pages that the other one adds, and the same new entity; both add one of the documents. Nothing is lost,
    nothing is there twice, and the database is as a check wants it."""
    titles = {address: [f"Comet {place}{n}" for n in range(EACH)] for place, address in enumerate(servers)}
    both = "Comet of both"
    with ThreadPoolExecutor(2) as pool:
        jobs = list(pool.map(lambda address: add(address, *titles[address], both), servers))
        for job in (job for some in jobs for job in some):
            done(job)
    wanted = {*(title for some in titles.values() for title in some), both}
    for address in servers:
        pages = requests.get(f"{address}documents?limit=100", timeout=60).json()
        assert wanted <= {page["uri"] for page in pages["documents"]}
        for title in sorted(wanted):
            assert title in search(address, f"Who first saw the comet {title}?")
    log_in(monkeypatch, neo4j_2026)
    checked = trivium("check", neo4j_2026.bolt)
    assert checked.code == 0, checked.out + checked.err
    stats = trivium("stats", "--store", neo4j_2026.bolt, "--json").json
    assert stats["nodes"]["Page"] == len(RECORDS) + len(wanted)
    assert stats["to_embed"] == 0
