"""Commands that add documents and vectors to a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import typer
from rich.markup import escape

from trivium.chunking.chunker_spec import parse_spec
from trivium.cli.arguments import (
    LoadSettings,
    chat_model,
    check_embedder,
    read_load_settings,
    wrong_argument,
)
from trivium.cli.options import (
    EmbedderOption,
    Json,
    LoadSetOption,
    Sources,
    Store,
)
from trivium.cli.options_from_requests import takes
from trivium.cli.print_load import print_left_out, print_load, print_waiting
from trivium.cli.progress import told_what_can_be_used
from trivium.cli.terminal import PARTIAL, NothingCommittedError, count, err, out, print_json, progress
from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.errors import NothingReadError
from trivium.graph.open_store import may_hold_something, never_left_empty
from trivium.index.load_report import MAX_REASONS, IngestReport, nothing_read
from trivium.index.requests import BuildRequest
from trivium.parser.sources.discover import discover
from trivium.serialization import info_json, load_json, report_json
from trivium.text.languages import AUTO, check_language


def load_sources(
    engine: Engine,
    store: str,
    request: BuildRequest,
    *,
    json: bool,
    announce: bool = False,
    suggest: bool = True,
) -> None:
    """Load and embed the sources with progress bars, and print the report. Raises typer.Exit with :data:`PARTIAL` when
    some documents could not be read, and NothingReadError when none could. ``announce`` prints the name of the embedder
    first, and again if the languages of the documents chose another one, ``suggest`` a next command last.
    """
    if announce:
        if request.language is not None and (language := check_language(request.language)) != AUTO:
            engine.indexer.embedder.choose_for(language)
        announced = engine.embedder.identity.name
        err.print(f"[dim]embedder: {escape(announced)}[/]")
    started = time.perf_counter()
    if not json and request.embed:
        print_waiting(engine, sentences=request.sentences)

    def load(bars: StageProgress) -> IngestReport:
        told = bars if json else told_what_can_be_used(bars, err)
        return engine.indexer.build(replace(request, progress=told, apart=True))

    report = _loaded(load, json=json)
    seconds = time.perf_counter() - started
    if announce and engine.embedder.identity.name != announced:
        err.print(f"[dim]embedder: {engine.embedder.identity.name}, for other languages than English[/]")
    if json:
        print_json(load_json(report, engine.info(), seconds))
    else:
        print_load(engine, store, report, seconds, suggest=suggest)
        if report.unchanged and not request.prune:
            _tell_of_deleted_files(engine, request)
    if report.problems:
        raise typer.Exit(PARTIAL)


def _tell_of_deleted_files(engine: Engine, request: BuildRequest) -> None:
    """Print a hint if documents of the folders that were read have no file any more."""
    from trivium.index.deleted_files import Pruning, folders_of

    folders = folders_of(request.paths)
    gone = Pruning(folders).count_deleted(engine.store) if folders else 0
    if gone:
        removes = "--prune removes it" if gone == 1 else "--prune removes them"
        err.print(
            f"hint: the store still has {count(gone, 'document')} whose file is gone ({removes})",
            soft_wrap=True,
        )


def _loaded(load: Callable[[StageProgress], IngestReport], *, json: bool) -> IngestReport:
    try:
        with progress(quiet=json) as bars:
            report = load(bars)
        if not report.read and (report.problems or report.left_out_kinds):
            raise nothing_read(report)  # also when the store contains other documents
    except NothingReadError as error:
        if json:
            print_json(report_json(error.report))
        elif len(error.report.problems) > MAX_REASONS:  # the message lists the first ones
            print_left_out(error.report)
        raise
    return report


@takes(
    BuildRequest,
    "format",
    "language",
    "meta",
    "chunker",
    "entities",
    "late",
    "headings",
    "embed",
    "sentences",
    "images",
    "workers",
    "prune",
    "reread",
    "questions",
    "ray",
)
def build(
    sources: Sources,
    store: Store,
    given: Mapping[str, Any],
    embedder: EmbedderOption = None,
    assignments: LoadSetOption = None,
    json: Json = False,
) -> None:
    """Parse sources into a graph, load it into a store (created when missing) and embed it.

    In folders, files of all known formats are read and the others are listed. Running it again is safe: unchanged
    documents are skipped, without reading them if size and times of a file say so, and an interrupted run resumes.

    Examples:

        trivium build documents/ --store my-store

        trivium build 'dump/*.html' nq-dev.jsonl.gz passages.jsonl --store my-store --no-embed

        trivium build nq-dev-*.jsonl.gz --store my-store --questions

        trivium build documents/ --store my-store --prune

        trivium build wikipedia.zim --store my-store --ray auto
    """
    settings = read_load_settings(assignments)
    if given["prune"]:
        from trivium.index.deleted_files import folders_of

        if not folders_of(sources):
            raise typer.BadParameter("expected a folder among the sources, got none", param_hint="--prune")
    check_embedder(embedder)
    if given["chunker"] is not None and parse_spec(given["chunker"]).name == "agentic":
        chat_model(None, batch=True)  # raises before anything is created
    if given["ray"] is not None:
        from trivium.index.ray_build import check_ray

        with wrong_argument("--ray"):
            check_ray(given["ray"])
    request = _request(sources, {**given, "any_embedder": embedder is not None}, settings)
    try:
        with (
            never_left_empty(store),
            Engine.create(store, embedder, settings=settings.retrievers) as engine,
        ):
            load_sources(engine, store, request, json=json, announce=not json and request.embed)
    except KeyboardInterrupt:
        if not may_hold_something(store):
            raise NothingCommittedError from None
        raise


@takes(BuildRequest, "meta", "embed")
def add(
    sources: Sources,
    store: Store,
    given: Mapping[str, Any],
    json: Json = False,
) -> None:
    """Add documents to an existing store. Pages that exist and differ are replaced. The same as  build  for a store that
    exists, which has more options.

    Example:  trivium add Mars.html --store my-store
    """
    settings = read_load_settings(None)
    request = _request(sources, given, settings)
    with Engine.open(store, settings=settings.retrievers) as engine:
        load_sources(engine, store, request, json=json)


def _request(sources: Sequence[str], given: Mapping[str, Any], settings: LoadSettings) -> BuildRequest:
    """Return the request of a command. Raises typer.BadParameter, and InputError for sources that do not exist, before
    anything is created.
    """
    with wrong_argument():
        request = BuildRequest(sources, limits=settings.limits, **given)
    discover(sources, request.format)
    return request


@takes(BuildRequest, "images")
def embed(
    store: Store, given: Mapping[str, Any], embedder: EmbedderOption = None, json: Json = False
) -> None:
    """Embed all texts of a store without a vector, and the sentences of its chunks. It can be interrupted at any time and
    resumes when run again.

    Example:  trivium embed --store my-store --embedder bge-small
    """
    check_embedder(embedder)
    images = given["images"]
    started = time.perf_counter()
    with (
        Engine.open(store, embedder) as engine,
        progress(quiet=json) as bars,
    ):
        texts = engine.indexer.embed(
            lambda done, total: bars("embed", done, total), any_embedder=embedder is not None
        )
        sentences = engine.indexer.embed_sentences(lambda done, total: bars("sentences", done, total))
        pictures = 0
        if images is not None:
            pictures = engine.indexer.embed_pictures(
                images, lambda done, total: bars("pictures", done, total)
            )
        engine.store.refresh(lambda done, total: bars("index", done, total))
        info = engine.info()
    seconds = time.perf_counter() - started
    if json:
        counts = {"texts": texts, "sentences": sentences}
        if images is not None:
            counts["pictures"] = pictures
        print_json({**counts, "seconds": round(seconds, 3), **info_json(info)})
    else:
        more = "" if images is None else f" and {count(pictures, 'picture')}"
        out.print(
            f"{count(texts, 'text')} and {count(sentences, 'sentence')}{more} embedded in {seconds:.1f} s"
        )
