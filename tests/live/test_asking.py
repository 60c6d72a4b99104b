"""Sources are asked at the same time and within limits; one that fails costs its own documents only; answers are kept."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.live_server import PAGES, SEARXNG, TAVILY, Known, Reply, live_server
from tests.live.world import Scripted, document
from trivium.common import stopping
from trivium.errors import ConfigurationError, InputError
from trivium.live import run_concurrently as together
from trivium.live.ask_sources import LiveSources
from trivium.live.result_cache import CachedAnswer, LiveCache
from trivium.live.source import LiveDocument, LivePassage
from trivium.settings.settings import Settings

MARS = document("Mars", "Mars is red.")


def asking(home: Path, *sources: Any, **settings: Any) -> LiveSources:
    return LiveSources(Settings(home=home, **{"live_cache_seconds": 0.0, **settings}), sources)


def test_a_source_that_fails_is_told_and_the_others_are_heard(tmp_path: Path) -> None:
    sources = (
        Scripted([MARS], name="good"),
        Scripted(error=InputError("out of order"), name="bad"),
        Scripted(error=ZeroDivisionError("a bug"), name="broken"),
    )
    answers = asking(tmp_path, *sources).ask("moons", ["bad", "good", "broken"])
    assert [found.document for found in answers.documents] == [MARS]
    assert [(o.name, o.found, o.error) for o in answers.outcomes] == [
        ("bad", 0, "out of order"),
        ("good", 1, None),
        ("broken", 0, "ZeroDivisionError: a bug"),
    ]
    (found,) = answers.documents
    assert (found.origin.source, found.origin.address) == ("good", MARS.address)
    assert found.origin.retrieved.endswith("Z")


def test_the_slow_are_not_waited_for_and_all_are_asked_at_once(tmp_path: Path) -> None:
    slow = [Scripted([MARS], wait=0.4, name=f"slow-{n}") for n in range(3)]
    late = Scripted([MARS], wait=20.0, deaf=True, name="late")
    sources = asking(tmp_path, *slow, late, live_seconds=1.0)
    began = time.monotonic()
    answers = sources.ask("moons", [source.name for source in (*slow, late)])
    assert time.monotonic() - began < 1.9
    assert [outcome.error for outcome in answers.outcomes] == [None, None, None, "no answer within 1 s"]


def test_who_goes_away_stops_the_sources(tmp_path: Path) -> None:
    heard = threading.Event()

    class Listening(Scripted):
        def search(self, query: str, k: int, seconds: float) -> list[LiveDocument]:
            try:
                return super().search(query, k, seconds)
            except stopping.StoppedError:
                heard.set()
                raise

    sources = asking(tmp_path, Listening(wait=20.0, name="late"), live_seconds=30.0)
    stop = stopping.Stop()
    threading.Timer(0.1, stop.ask).start()
    with stop.in_force(), pytest.raises(stopping.StoppedError):
        sources.ask("moons", ["late"])
    assert heard.wait(5)


def test_more_requests_than_are_allowed_at_once_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "_places", threading.BoundedSemaphore(1))
    first = Scripted([MARS], wait=0.2, name="first")
    answers = asking(tmp_path, first, Scripted(name="second")).ask("moons", ["first", "second"])
    assert answers.outcomes[0].error is None
    assert answers.outcomes[1].error == "too many requests to live sources are under way"


def test_a_document_of_two_sources_is_one_and_what_cannot_be_cited_is_none(tmp_path: Path) -> None:
    again = document("Mars again", "Mars is red, too.", f"{MARS.address}/#top")
    nameless = LiveDocument("", "https://example.org/x", "A text.")
    without_address, empty = LiveDocument("Title", "", "A text."), document("Empty", "")
    sources = asking(
        tmp_path, Scripted([MARS], name="a"), Scripted([again, nameless, without_address, empty], name="b")
    )
    answers = sources.ask("moons", ["a", "b", "a"])
    assert [found.document.title for found in answers.documents] == ["Mars", "example.org"]
    assert [outcome.name for outcome in answers.outcomes] == ["a", "b"]


def test_names_are_checked_before_anything_is_sent(tmp_path: Path) -> None:
    source = Scripted([MARS], name="good")
    sources = asking(tmp_path, source)
    for wrong in (["good", "bing"], "good", [3], ["good"] * 11):
        with pytest.raises(InputError):
            sources.ask("moons", wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="brave needs the setting brave_key"):
        sources.ask("moons", ["good", "brave"])
    assert source.asked == []


# -- the cache -----------------------------------------------------------------------------------------------------


def test_an_answer_is_used_again_with_its_age_also_by_the_next_process(tmp_path: Path) -> None:
    source = Scripted([MARS])
    first = asking(tmp_path, source, live_cache_seconds=60.0)
    assert first.ask("Which  moons?", ["scripted"]).outcomes[0].cached_age is None
    second = asking(tmp_path, source, live_cache_seconds=60.0)
    for sources in (first, second):
        answers = sources.ask("Which moons?", ["scripted"])
        age = answers.outcomes[0].cached_age
        assert age is not None and 0 <= age < 30
        assert [found.document for found in answers.documents] == [MARS]
    assert source.asked == ["Which  moons?"]
    other = Scripted([MARS], key="another address")
    asking(tmp_path, other, live_cache_seconds=60.0).ask("Which moons?", ["scripted"])
    assert other.asked == ["Which moons?"]


def test_an_old_answer_is_better_than_none_and_says_that_it_is_old(tmp_path: Path) -> None:
    source = Scripted([MARS])
    asking(tmp_path, source, live_cache_seconds=60.0).ask("moons", ["scripted"])
    source.error = InputError("out of order")
    answers = asking(tmp_path, source, live_cache_seconds=1e-9).ask("moons", ["scripted"])
    (outcome,) = answers.outcomes
    assert outcome.error == "out of order" and outcome.cached_age is not None and outcome.found == 1
    assert [found.document for found in answers.documents] == [MARS]


def test_without_a_cache_nothing_is_written(tmp_path: Path) -> None:
    source = Scripted([MARS])
    sources = asking(tmp_path, source)
    sources.ask("moons", ["scripted"])
    sources.ask("moons", ["scripted"])
    assert len(source.asked) == 2 and list(tmp_path.iterdir()) == []


def test_the_cache_keeps_documents_as_they_are_and_survives_damage(tmp_path: Path) -> None:
    whole = document(
        "Mars",
        "é ☃",
        published="2026",
        whole=True,
        names=("wiki:Mars",),
        passages=(LivePassage(("A", "B"), "x", "list"),),
    )
    LiveCache(tmp_path).put(("a",), CachedAnswer((whole, MARS), 1.0))
    read = LiveCache(tmp_path).get(("a",))
    assert read == CachedAnswer((whole, MARS), 1.0)
    assert LiveCache(tmp_path).get(("b",)) is None
    (file,) = tmp_path.glob("*.json")
    assert file.stat().st_mode & 0o077 == 0
    for damage in (b"", b"{", b'{"documents": [1], "retrieved": 1}', b"{}"):
        file.write_bytes(damage)
        assert LiveCache(tmp_path).get(("a",)) is None


def test_the_cache_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trivium.live import result_cache

    monkeypatch.setattr(result_cache, "_FILES", 5)
    monkeypatch.setattr(result_cache, "_CHECKED_EVERY", 2)
    kept = LiveCache(tmp_path)
    for number in range(20):
        kept.put((str(number),), CachedAnswer((MARS,), 1.0))
    assert len(list(tmp_path.glob("*.json"))) <= 6


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    source = Scripted([MARS])
    sources = asking(blocked, source, live_cache_seconds=60.0)
    assert sources.ask("moons", ["scripted"]).outcomes[0].error is None


# -- pages ---------------------------------------------------------------------------------------------------------

LONG = "".join(f"<h2>Part {n}</h2><p>This part is about crater {n} and its rim.</p>" for n in range(30))
PAGE = Known(
    "Craters", "A snippet.", page=f"<p>Craters are round.</p>{LONG}<h2>Last</h2><p>The moons of Mars.</p>"
)


def test_pages_are_read_and_reduced_to_what_fits_the_question(tmp_path: Path) -> None:
    with live_server(PAGE, Known("Gone", "Its page is gone.")) as server:
        settings = server.settings(home=tmp_path, live_pages=2, live_private_pages=True)
        answers = LiveSources(Settings(**settings)).ask("moons of Mars", ["searxng"])
        page, gone = [found.document for found in answers.documents]
        texts = [passage.text for passage in page.passages]
        assert len(texts) == 8 and texts[0] == "Craters\n\nCraters are round."
        assert texts[-1] == "Last\n\nThe moons of Mars."
        assert page.passages[-1].headings[-1] == "Last"
        assert gone.text == "Its page is gone." and gone.passages == ()


def test_pages_of_this_machine_are_not_read_unless_that_is_allowed(tmp_path: Path) -> None:
    with live_server(PAGE) as server:
        settings = Settings(**server.settings(home=tmp_path, live_pages=2))
        (found,) = LiveSources(settings).ask("moons of Mars", ["searxng"]).documents
        assert found.document.passages == () and found.document.text == "A snippet."
        assert [sent.path for sent in server.sent] == [SEARXNG]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<p>x</p>" * 500_000, type="text/html"),
        Reply(b"%PDF-1.4", type="application/pdf"),
        Reply(b"", type="text/html"),
        Reply(b"\x00\x01\x02", type="text/html"),
        Reply(b"<p>late</p>", type="text/html", pause=20.0),
        Reply(b"<p>drop", type="text/html", drip=0.2, endless=True),
    ],
    ids=["huge", "pdf", "empty", "binary", "late", "endless"],
)
def test_of_a_page_that_cannot_be_read_the_snippet_stays(tmp_path: Path, reply: Reply) -> None:
    with live_server(PAGE) as server:
        server.replies[f"{PAGES}craters"] = reply
        settings = server.settings(home=tmp_path, live_pages=1, live_private_pages=True, live_seconds=3.0)
        answers = LiveSources(Settings(**settings)).ask("moons of Mars", ["searxng"])
        assert answers.outcomes[0].error is None
        assert [found.document.text for found in answers.documents] == ["A snippet."]
        assert answers.documents[0].document.passages == ()


def test_a_huge_answer_and_one_that_never_ends_are_given_up(tmp_path: Path) -> None:
    with live_server(PAGE) as server:
        server.replies[SEARXNG] = Reply(b"x" * (1 << 20), endless=True)
        server.replies[TAVILY] = Reply(b"{", drip=0.05, endless=True)
        settings = Settings(**server.settings(home=tmp_path, live_seconds=1.0))
        answers = LiveSources(settings).ask("moons", ["searxng", "tavily", "brave"])
        errors = [outcome.error for outcome in answers.outcomes]
        assert errors == ["the answer has more than 4,194,304 bytes, the limit", "no answer within 1 s", None]
