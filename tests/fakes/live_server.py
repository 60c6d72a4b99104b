"""Search engines, arXiv and a MediaWiki on one local port: each answers in the format of the real API, with own texts.

:class:`LiveServer` gives the same documents to every question, as many as are asked for; what an API is to do instead
(fail, dawdle, send nonsense) is put into ``replies`` by its path.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from html import escape
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from tests.fakes.local_server import LocalServer, QuietHandler

SEARXNG, SERPAPI, BRAVE, TAVILY = "/searxng/search", "/serpapi.json", "/brave/web/search", "/tavily/search"
ARXIV, MEDIAWIKI, PAGES = "/arxiv/query", "/w/api.php", "/pages/"

KEY = "key-of-the-tests"


@dataclass(frozen=True)
class Known:
    """A document that the APIs know. ``page`` is the body of its HTML page; without one there is no such page."""

    title: str
    text: str
    published: str = "2026-02-03T00:00:00"
    page: str = ""
    path: str = ""

    @property
    def name(self) -> str:
        """Where it lies below the pages."""
        return self.path or quote(self.title.lower().replace(" ", "-"), safe="")


@dataclass(frozen=True)
class Sent:
    """A request that came."""

    path: str
    query: dict[str, str]
    headers: Message
    body: Any


@dataclass(frozen=True)
class Reply:
    """What is sent instead of an answer. ``pause`` is before the status; the ``body`` comes in pieces with ``drip``
    seconds between them where that is not 0; ``endless`` repeats it."""

    body: bytes = b""
    status: int = 200
    type: str = "application/json"
    location: str = ""
    pause: float = 0.0
    drip: float = 0.0
    endless: bool = False


@dataclass
class LiveServer:
    """What the server knows, is to do, and was asked. arXiv knows the ``papers`` where there are some."""

    address: str = ""
    documents: list[Known] = field(default_factory=list)
    papers: list[Known] | None = None
    replies: dict[str, Reply] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    hung_up: list[str] = field(default_factory=list)
    """Paths of requests whose client closed the connection before it was answered."""

    def settings(self, **others: Any) -> dict[str, Any]:
        """Settings with which every source asks this server."""
        return {
            "searxng_url": f"{self.address}/searxng",
            "serpapi_url": f"{self.address}{SERPAPI}",
            "serpapi_key": KEY,
            "brave_url": f"{self.address}{BRAVE}",
            "brave_key": KEY,
            "tavily_url": f"{self.address}{TAVILY}",
            "tavily_key": KEY,
            "arxiv_url": f"{self.address}{ARXIV}",
            "mediawiki_api": f"{self.address}{MEDIAWIKI}",
            "live_pages": 0,
            **others,
        }

    def asked(self, path: str) -> list[Sent]:
        """The requests to a path."""
        return [sent for sent in self.sent if sent.path == path]


@contextmanager
def live_server(*documents: Known) -> Iterator[LiveServer]:
    """A running server that knows these documents."""
    state = LiveServer(documents=list(documents))

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            parts = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            sent = Sent(parts.path, query, self.headers, body)
            state.sent.append(sent)
            reply = state.replies.get(parts.path) or _usual(state, sent)
            if _leaves_within(reply.pause, self.connection):
                state.hung_up.append(parts.path)
                return
            with suppress(OSError):  # who asked has gone
                _send(self, reply)

    with LocalServer(Handler) as server:
        state.address = server.address
        yield state


def _leaves_within(seconds: float, client: socket.socket) -> bool:
    """Wait for so long; whether the client closes its connection meanwhile."""
    if seconds == 0 or not select.select([client], [], [], seconds)[0]:
        return False
    try:
        return client.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def _send(handler: QuietHandler, reply: Reply) -> None:
    handler.send_response(reply.status)
    handler.send_header("Content-Type", reply.type)
    if reply.location:
        handler.send_header("Location", reply.location)
    if not reply.endless:
        handler.send_header("Content-Length", str(len(reply.body)))
    handler.end_headers()
    step = 1 if reply.drip else max(1, len(reply.body))
    while True:
        for start in range(0, len(reply.body), step):
            handler.wfile.write(reply.body[start : start + step])
            handler.wfile.flush()
            time.sleep(reply.drip)
        if not reply.endless:
            return


def _usual(state: LiveServer, sent: Sent) -> Reply:
    if sent.path.startswith(PAGES):
        return _page(state, sent.path.removeprefix(PAGES))
    answer = _ANSWERS.get(sent.path)
    return Reply(b"{}", 404) if answer is None else answer(state, sent)


def _page(state: LiveServer, name: str) -> Reply:
    for known in state.documents:
        if known.name == name and known.page:
            head = f"<!doctype html><html><head><title>{escape(known.title)}</title></head>"
            body = f"<body><main><h1>{escape(known.title)}</h1>{known.page}</main></body></html>"
            return Reply((head + body).encode(), type="text/html; charset=utf-8")
    return Reply(b"<p>not here</p>", 404, "text/html")


def _json(value: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status)


def _place(state: LiveServer, known: Known) -> str:
    return f"{state.address}{PAGES}{known.name}"


def _searxng(state: LiveServer, sent: Sent) -> Reply:
    if sent.query.get("format") != "json":
        return Reply(b"<html></html>", type="text/html")
    results = [
        {
            "url": _place(state, known),
            "title": known.title,
            "content": known.text,
            "publishedDate": known.published or None,
            "thumbnail": "",
            "engine": "an engine",
            "template": "default.html",
            "parsed_url": ["http", urlsplit(state.address).netloc, f"{PAGES}{known.name}", "", "", ""],
            "img_src": "",
            "priority": "",
            "engines": ["an engine"],
            "positions": [number],
            "score": 1 / number,
            "category": "general",
        }
        for number, known in enumerate(state.documents, 1)
    ]
    return _json(
        {
            "query": sent.query["q"],
            "number_of_results": 0,
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }
    )


def _serpapi(state: LiveServer, sent: Sent) -> Reply:
    if sent.query.get("api_key") != KEY:
        return _json({"error": "Invalid API key."}, 401)
    metadata = {"id": "1", "status": "Success", "total_time_taken": 0.5}
    if not state.documents:
        return _json(
            {
                "search_metadata": metadata,
                "search_information": {"organic_results_state": "Fully empty"},
                "error": "Google hasn't returned any results for this query.",
            }
        )
    results = [
        {
            "position": number,
            "title": known.title,
            "link": _place(state, known),
            "displayed_link": f"example.org › {known.name}",
            "date": "Feb 3, 2026",
            "snippet": known.text,
            "snippet_highlighted_words": [],
        }
        for number, known in enumerate(state.documents[: int(sent.query["num"])], 1)
    ]
    return _json(
        {
            "search_metadata": metadata,
            "search_parameters": {"engine": "google", "q": sent.query["q"]},
            "organic_results": results,
        }
    )


def _brave(state: LiveServer, sent: Sent) -> Reply:
    if sent.headers.get("X-Subscription-Token") != KEY:
        return _json(
            {"type": "ErrorResponse", "error": {"status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID"}}, 422
        )
    results = []
    for known in state.documents[: int(sent.query["count"])]:
        first, _, rest = escape(known.text).partition(" ")
        results.append(
            {
                "type": "search_result",
                "subtype": "generic",
                "title": escape(known.title),
                "url": _place(state, known),
                "is_source_local": False,
                "description": f"<strong>{first}</strong> {rest}",
                "page_age": known.published,
                "age": "February 3, 2026",
                "language": "en",
                "family_friendly": True,
                "extra_snippets": ["A further snippet of the page."],
            }
        )
    return _json(
        {
            "query": {"original": sent.query["q"], "more_results_available": False},
            "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
            "type": "search",
            "web": {"type": "search", "results": results, "family_friendly": True},
        }
    )


def _tavily(state: LiveServer, sent: Sent) -> Reply:
    if sent.headers.get("Authorization") != f"Bearer {KEY}":
        return _json({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401)
    results = [
        {
            "title": known.title,
            "url": _place(state, known),
            "content": known.text,
            "score": 0.9,
            "raw_content": None,
        }
        for known in state.documents[: sent.body["max_results"]]
    ]
    return _json(
        {
            "query": sent.body["query"],
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": results,
            "response_time": 0.5,
            "request_id": "1",
        }
    )


def arxiv_id(number: int) -> str:
    """The name of the n-th paper."""
    return f"2602.{number:05d}"


def _arxiv(state: LiveServer, sent: Sent) -> Reply:
    papers = state.documents if state.papers is None else state.papers
    entries = "".join(
        f"""
  <entry>
    <id>http://arxiv.org/abs/{arxiv_id(number)}v2</id>
    <updated>2026-02-04T10:00:00Z</updated>
    <published>2026-02-03T10:00:00Z</published>
    <title>{escape(known.title)}</title>
    <summary>  {escape(known.text)}
</summary>
    <author><name>A. Author</name></author>
    <author><name>B. Author</name></author>
    <arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">3 pages</arxiv:comment>
    <link href="http://arxiv.org/abs/{arxiv_id(number)}v2" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/{arxiv_id(number)}v2" rel="related" type="application/pdf"/>
    <arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="astro-ph.EP"/>
    <category term="astro-ph.EP" scheme="http://arxiv.org/schemas/atom"/>
  </entry>"""
        for number, known in enumerate(papers[: int(sent.query["max_results"])], 1)
    )
    feed = f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?search_query=x" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: search_query={escape(sent.query["search_query"])}</title>
  <id>http://arxiv.org/api/1</id>
  <updated>2026-02-05T00:00:00-05:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{len(papers)}</opensearch:totalResults>
  <opensearch:startIndex xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">0</opensearch:startIndex>{entries}
</feed>"""
    return Reply(feed.encode(), type="application/atom+xml; charset=UTF-8")


def arxiv_error(message: str) -> Reply:
    """How the API says that it does not understand a query."""
    feed = f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">ArXiv Query: error</title>
<entry><id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title><summary>{message}</summary>
<updated>2026-02-05T00:00:00-05:00</updated></entry></feed>"""
    return Reply(feed.encode(), type="application/atom+xml; charset=UTF-8")


def _mediawiki(state: LiveServer, sent: Sent) -> Reply:
    if sent.query.get("action") == "parse":
        for known in state.documents:
            if known.title == sent.query["page"] and known.page:
                text = f'<div class="mw-parser-output">{known.page}</div>'
                return _json(
                    {"parse": {"title": known.title, "pageid": 1, "revid": 7, "redirects": [], "text": text}}
                )
        return _json({"error": {"code": "missingtitle", "info": "The page you specified doesn't exist."}})
    pages = [
        {
            "pageid": number,
            "ns": 0,
            "title": known.title,
            "index": number,
            "contentmodel": "wikitext",
            "pagelanguage": "en",
            "touched": "2026-02-05T00:00:00Z",
            "lastrevid": 7,
            "length": len(known.text),
            "fullurl": f"{state.address}/wiki/{known.name}",
            "editurl": f"{state.address}/w/index.php?title={known.name}&action=edit",
            "canonicalurl": f"{state.address}/wiki/{known.name}",
            "extract": known.text,
            "revisions": [{"timestamp": "2026-02-03T10:00:00Z"}],
        }
        for number, known in enumerate(state.documents[: int(sent.query["gsrlimit"])], 1)
    ]
    # The API gives them by number of page, not by rank.
    return _json({"batchcomplete": True, **({"query": {"pages": pages[::-1]}} if pages else {})})


_ANSWERS: dict[str, Callable[[LiveServer, Sent], Reply]] = {
    SEARXNG: _searxng,
    SERPAPI: _serpapi,
    BRAVE: _brave,
    TAVILY: _tavily,
    ARXIV: _arxiv,
    MEDIAWIKI: _mediawiki,
}
