"""Commands that add documents and vectors to a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Unpack

import typer
from rich.markup import escape

from trivium.chunking.spec import parse_spec
from trivium.cli.annotators import annotators_rule
from trivium.cli.arguments import (
    chat_model,
    check_embedder,
    check_embedder_for,
    check_language_option,
    embedder_of,
    read_load_settings,
    wrong_argument,
)
from trivium.cli.load_report import print_left_out, print_load, print_waiting
from trivium.cli.nouns import count
from trivium.cli.options import (
    AnnotatorsOption,
    AnyEmbedder,
    ChooserOption,
    ChunkerOption,
    DeviceOption,
    EmbedderOption,
    EmbedWith,
    FormatOption,
    ImagesOption,
    IntoOption,
    Json,
    LanguageOption,
    LateOption,
    LoadSetOption,
    MetaOption,
    NoEmbed,
    NoHeadings,
    NoSentences,
    PartsOption,
    Prune,
    RayOption,
    Sources,
    Store,
    Verbose,
    Watch,
    WithQuestions,
    Workers,
)
from trivium.cli.terminal import PARTIAL, NothingCommittedError, err, out, print_json, progress, shown
from trivium.cli.watch import check_watched, follow, follower
from trivium.common.progress import StageProgress
from trivium.engine import Engine
from trivium.errors import InputError, NothingReadError
from trivium.graph.factory import is_address, may_hold_something, never_left_empty
from trivium.index.indexer import BuildOptions
from trivium.index.pruning import folders_of
from trivium.index.report import MAX_REASONS, IngestReport, nothing_read
from trivium.metadata import parse_assignments
from trivium.parser.sources.base import check_format
from trivium.parser.sources.discover import discover
from trivium.serialization import info_json, load_json, report_json
from trivium.types import MetadataValue


def check_sources(sources: Sequence[str], format: str) -> None:
    """Raise typer.BadParameter for unusable sources before anything is created."""
    try:
        check_format(format)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--format") from error
    discover(sources, format)


def _check_images(name: str | None, *, no_embed: bool = False) -> None:
    """Raise typer.BadParameter for an unknown image embedder, and for any image embedder with ``--no-embed``."""
    if name is not None:
        if no_embed:
            raise typer.BadParameter(
                "it embeds pictures, and --no-embed embeds nothing: leave out one of them",
                param_hint="--images",
            )
        from trivium.embedding.images import check_image_embedder

        with wrong_argument("--images"):
            check_image_embedder(name)


def _check_prune(sources: Sequence[str], *, watch: bool) -> None:
    """Raise typer.BadParameter where nothing can be pruned, before anything is created."""
    if watch:
        raise typer.BadParameter(
            "--watch removes them by itself: leave out one of them", param_hint="--prune"
        )
    if not folders_of(sources):
        raise typer.BadParameter("expected a folder among the sources, got none", param_hint="--prune")


def _metadata(assignments: Sequence[str] | None) -> dict[str, MetadataValue | None] | None:
    try:
        return parse_assignments(assignments) if assignments else None
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--meta") from error


def _check_ray(store: str, ray: str | None, parts: str | None, *, watch: bool) -> None:
    """Raise typer.BadParameter for invalid combinations before anything is created."""
    if ray is None:
        if parts is not None:
            raise typer.BadParameter("it keeps what a cluster makes: name --ray", param_hint="--parts")
        return
    if watch:
        raise typer.BadParameter("a build on a cluster ends: leave out one of them", param_hint="--watch")
    if parts is None and is_address(store):
        raise typer.BadParameter(
            "what the cluster makes is kept in a folder until it is loaded: name it", param_hint="--parts"
        )
    from trivium.index.ray_build import check_ray

    with wrong_argument("--ray"):
        check_ray(ray)


def load_sources(
    engine: Engine,
    store: str,
    sources: Sequence[str],
    *,
    json: bool,
    verbose: bool = False,
    announce: bool = False,
    **options: Unpack[BuildOptions],
) -> None:
    """Load and embed the sources with progress bars, and print the report. Raises typer.Exit with :data:`PARTIAL` when
    some documents could not be read, and NothingReadError when none could. ``announce`` prints the name of the embedder
    before anything is embedded, and not where nothing could be read.
    """
    said = not announce

    def say() -> None:
        nonlocal said
        if not said:
            err.print(f"[dim]embedder: {escape(engine.embedder.identity.name)}[/]")
        said = True

    started = time.perf_counter()
    if not json and options.get("embed", True):
        print_waiting(engine, sentences=options.get("sentences", True))

    def load(bars: StageProgress) -> IngestReport:
        def shown_progress(stage: str, done: int, total: int) -> None:
            if stage == "embed":
                say()
            bars(stage, done, total)

        options["progress"] = shown_progress
        options["apart"] = True
        return engine.build(sources, **options)

    report = _loaded(load, json=json)
    say()
    _tell(engine, store, report, time.perf_counter() - started, json=json, verbose=verbose)


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


def _tell(
    engine: Engine, store: str, report: IngestReport, seconds: float, *, json: bool, verbose: bool
) -> None:
    if json:
        print_json(load_json(report, engine.info(), seconds))
    else:
        print_load(engine, store, report, seconds, verbose)
    if report.problems:
        raise typer.Exit(PARTIAL)


def build(
    sources: Sources,
    store: Store,
    format: FormatOption = "auto",
    embedder: EmbedderOption = None,
    embed_with: EmbedWith = None,
    device: DeviceOption = None,
    chunker: ChunkerOption = None,
    model: ChooserOption = None,
    late: LateOption = False,
    no_headings: NoHeadings = False,
    no_embed: NoEmbed = False,
    no_sentences: NoSentences = False,
    images: ImagesOption = None,
    workers: Workers = None,
    language: LanguageOption = None,
    any_embedder: AnyEmbedder = False,
    meta: MetaOption = None,
    assignments: LoadSetOption = None,
    json: Json = False,
    verbose: Verbose = False,
    watch: Watch = False,
    prune: Prune = False,
    ray: RayOption = None,
    parts: PartsOption = None,
    into: IntoOption = None,
    questions: WithQuestions = False,
    annotators: AnnotatorsOption = None,
) -> None:
    """Parse sources into a graph, load it into a store (created when missing) and embed it.

    In folders, files of all known formats are read and the others are listed. Running it again is safe: unchanged
    documents are skipped and an interrupted run resumes.

    Examples:

        trivium build documents/ --store my-store

        trivium build 'dump/*.html' nq-dev.jsonl.gz passages.jsonl --store my-store --no-embed

        trivium build nq-dev-*.jsonl.gz --store my-store --questions

        trivium build documents/ --store my-store --prune

        trivium build wikipedia.zim --store my-store --ray auto

        trivium build documents/ --store my-store --device cuda
    """
    if into is not None:
        raise typer.BadParameter("a build makes one store: leave it out", param_hint="--into")
    given = read_load_settings(assignments)
    if late and no_headings:
        raise typer.BadParameter(
            "--late reads chunks in their context, headings too: leave out one of them",
            param_hint="--no-headings",
        )
    check_sources(sources, format)
    if prune:
        _check_prune(sources, watch=watch)
    check_embedder(embedder)
    _check_images(images, no_embed=no_embed)
    if chunker is not None:
        with wrong_argument("--chunker"):
            parse_spec(chunker)
    if model is not None:
        chat_model(model, batch=True)  # raises before anything is created
    check_language_option(language)
    rule = annotators_rule(annotators, asked=questions)
    _check_ray(store, ray, parts, watch=watch)
    if watch:
        check_watched(sources, json)
    filler = embedder_of(embedder, embed_with, device)
    if not no_embed and not any_embedder:
        check_embedder_for(language, filler, store)
    options = BuildOptions(
        format=format,
        workers=workers,
        embed=not no_embed,
        sentences=not no_sentences,
        language=language,
        any_embedder=any_embedder,
        meta=_metadata(meta),
        chunker=chunker,
        late=late,
        headings=not no_headings,
        images=images,
        limits=given.limits,
        index=given.index,
        model=model,
        ray=ray,
        parts=parts,
        questions=questions,
        annotators=rule,
        prune=prune,
    )
    try:
        with (
            never_left_empty(store),
            Engine.create(store, filler, settings=given.retrievers, device=device) as engine,
        ):
            following = follower(engine, sources, options) if watch else None
            try:
                load_sources(
                    engine,
                    store,
                    sources,
                    json=json,
                    verbose=verbose,
                    announce=not json and not no_embed,
                    **options,
                )
            except typer.Exit:
                if following is None:
                    raise
            except NothingReadError as error:
                if following is None or not engine.store.count_pages():
                    raise
                err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
            if following is not None:
                follow(following, store)
    except KeyboardInterrupt:
        if not may_hold_something(store):
            raise NothingCommittedError from None
        raise


def add(
    sources: Sources,
    store: Store,
    format: FormatOption = "auto",
    embed_with: EmbedWith = None,
    device: DeviceOption = None,
    no_embed: NoEmbed = False,
    no_sentences: NoSentences = False,
    images: ImagesOption = None,
    model: ChooserOption = None,
    workers: Workers = None,
    language: LanguageOption = None,
    any_embedder: AnyEmbedder = False,
    meta: MetaOption = None,
    assignments: LoadSetOption = None,
    json: Json = False,
    verbose: Verbose = False,
    questions: WithQuestions = False,
    annotators: AnnotatorsOption = None,
) -> None:
    """Add documents to an existing store. Pages that exist and differ are replaced.

    Example:  trivium add Mars.html --store my-store
    """
    given = read_load_settings(assignments)
    check_sources(sources, format)
    check_language_option(language)
    _check_images(images, no_embed=no_embed)
    metadata = _metadata(meta)
    rule = annotators_rule(annotators, asked=questions)
    if model is not None:
        chat_model(model, batch=True)  # raises before anything is created
    with Engine.open(
        store, embedder_of(None, embed_with, device), settings=given.retrievers, device=device
    ) as engine:
        load_sources(
            engine,
            store,
            sources,
            json=json,
            verbose=verbose,
            format=format,
            workers=workers,
            embed=not no_embed,
            sentences=not no_sentences,
            language=language,
            any_embedder=any_embedder,
            meta=metadata,
            images=images,
            limits=given.limits,
            index=given.index,
            model=model,
            questions=questions,
            annotators=rule,
        )


def embed(
    store: Store,
    embedder: EmbedderOption = None,
    embed_with: EmbedWith = None,
    device: DeviceOption = None,
    no_headings: NoHeadings = False,
    no_sentences: NoSentences = False,
    images: ImagesOption = None,
    any_embedder: AnyEmbedder = False,
    assignments: LoadSetOption = None,
    json: Json = False,
) -> None:
    """Embed all texts of a store without a vector, and the sentences of its chunks. It can be interrupted at any time and
    resumes when run again.

    Example:  trivium embed --store my-store --embedder bge-small
    """
    given = read_load_settings(assignments)
    filler = embedder_of(embedder, embed_with, device)
    _check_images(images)
    started = time.perf_counter()
    with (
        Engine.open(store, filler, settings=given.retrievers, device=device) as engine,
        progress(quiet=json) as bars,
    ):
        engine.indexer.set_index_parameters(given.index)
        texts = engine.indexer.embed(
            lambda done, total: bars("embed", done, total),
            any_embedder=any_embedder,
            headings=not no_headings,
        )
        sentences = 0
        if not no_sentences:
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
