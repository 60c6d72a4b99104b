"""The command ``trivium``: parses arguments, calls the engine, prints.

Exit codes: 0 done; 1 an error (its message is on stderr); 2 wrong usage; 3 done, but some documents could not be
read; 130 interrupted (what was committed stays, the same command goes on from there).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.markup import escape
from typer.rich_utils import rich_format_error

import trivium
from trivium.cli_options import (
    FORMATS,
    EmbedderOption,
    Exact,
    FormatOption,
    Json,
    NoEmbed,
    RetrieverOption,
    SelectorOption,
    Sources,
    Store,
    Workers,
    spread,
)
from trivium.embedding.models import available, install
from trivium.engine import Engine
from trivium.errors import TriviumError
from trivium.evaluation.report import print_report
from trivium.evaluation.trec import write_runs
from trivium.fusion.registry import FUSIONS
from trivium.llm.openai import open_chat_model
from trivium.parser.sources.base import Format
from trivium.parser.sources.discover import discover
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.selectors import MatchSelector, Selector
from trivium.sample import DEMO_QUESTIONS, pages_folder
from trivium.terminal import (
    err,
    hit_json,
    info_json,
    load_json,
    out,
    print_hits,
    print_info,
    print_json,
    print_load,
    progress,
    shown,
)

USAGE = 2
PARTIAL = 3
INTERRUPTED = 130

app = typer.Typer(
    name="trivium",
    help="Turn encyclopedic documents into a knowledge graph and retrieve from it by fusing many views.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="Embedding models on this machine.", no_args_is_help=True)
app.add_typer(models, name="models")


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"trivium {trivium.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _check(sources: Sequence[str], format: str) -> None:
    """Refuse what cannot work before anything is made."""
    if format not in FORMATS:
        raise typer.BadParameter(
            f"expected one of {', '.join(FORMATS)}, got {format!r}", param_hint="--format"
        )
    discover(sources, cast(Format, format))


def _selector(name: str) -> Selector:
    if name == "match":
        return MatchSelector()
    if name == "llm":
        return LlmSelector(open_chat_model())
    raise typer.BadParameter(f"expected match or llm, got {name!r}", param_hint="--selector")


def _load(
    engine: Engine,
    sources: Sequence[str],
    format: str,
    workers: int | None,
    no_embed: bool,
    json: bool,
) -> None:
    started = time.perf_counter()
    with progress(quiet=json) as bars:
        report = engine.build(
            sources, format=cast(Format, format), workers=workers, embed=not no_embed, progress=bars
        )
    seconds = time.perf_counter() - started
    if json:
        print_json(load_json(report, engine.info(), seconds))
    else:
        print_load(report, engine.info(), seconds)
    if report.problems:
        raise typer.Exit(PARTIAL)


@app.command()
def build(
    sources: Sources,
    store: Store,
    format: FormatOption = "auto",
    embedder: EmbedderOption = None,
    no_embed: NoEmbed = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Parse sources into a graph, load it into a store (made when missing) and embed it.

    Running it again is safe: unchanged pages are left alone, an interrupted run goes on.

    Examples:

        trivium build pages/ --store my-store

        trivium build 'dump/*.html' nq-dev.jsonl.gz passages.jsonl --store my-store --no-embed
    """
    _check(sources, format)
    with Engine.create(store, embedder) as engine:
        if not json and not no_embed:
            err.print(f"[dim]embedder: {escape(engine.embedder.identity.name)}[/]")
        _load(engine, sources, format, workers, no_embed, json)


@app.command()
def add(
    sources: Sources,
    store: Store,
    format: FormatOption = "auto",
    no_embed: NoEmbed = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Add documents to an existing store; a page that is there and differs is replaced.

    Example:  trivium add Mars.html --store my-store
    """
    _check(sources, format)
    with Engine.open(store) as engine:
        _load(engine, sources, format, workers, no_embed, json)


@app.command()
def remove(
    pages: Annotated[
        list[str],
        typer.Argument(metavar="TITLE...", help="Titles (or redirects) of pages.", show_default=False),
    ],
    store: Store,
    json: Json = False,
) -> None:
    """Remove pages. One that others still cite stays as an entity without a document.

    Example:  trivium remove "Mars" "Phobos (moon)" --store my-store
    """
    with Engine.open(store) as engine:
        removed = engine.remove(pages)
        if json:
            print_json({"removed": removed, **info_json(engine.info())})
        else:
            for page in removed:
                out.print(f"removed {escape(page)}")


@app.command()
def embed(store: Store, embedder: EmbedderOption = None, json: Json = False) -> None:
    """Embed every text of a store that has no vector yet. Interrupt it any time; it resumes.

    Example:  trivium embed --store my-store --embedder bge-small
    """
    started = time.perf_counter()
    with Engine.open(store, embedder) as engine, progress(quiet=json) as bars:
        count = engine.embed(lambda done, total: bars("embed", done, total))
        engine.store.refresh(lambda done, total: bars("index", done, total))
        info = engine.info()
    seconds = time.perf_counter() - started
    if json:
        print_json({"texts": count, "seconds": round(seconds, 3), **info_json(info)})
    else:
        out.print(f"{count:,} texts embedded in {seconds:.1f} s")


@app.command()
def search(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What to look for.", show_default=False)
    ],
    store: Store,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="How many chunks.")] = 10,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        str | None, typer.Option("--fusion", help=f"{', '.join(FUSIONS)}.  \\[default: default]")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each view contributed.")] = False,
    exact: Exact = False,
    selector: SelectorOption = "match",
    json: Json = False,
) -> None:
    """Search a store. Without options all eight views are asked and fused.

    Examples:

        trivium search "Who found the moons of Mars?" --store my-store --explain

        trivium search "largest volcano" --store my-store --retriever walk --k 5 --json
    """
    with Engine.open(store, selector=_selector(selector)) as engine:
        hits = engine.search(question, k, retriever, fusion, explain, exact)
    if json:
        print_json({"question": question, "hits": [hit_json(hit) for hit in hits]})
    else:
        print_hits(question, hits, explain)


@app.command()
def evaluate(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS", help="Question file (JSON Lines).", show_default=False)
    ],
    store: Store,
    retriever: RetrieverOption = None,
    fusion: Annotated[
        list[str] | None,
        typer.Option("--fusion", "-f", help=f"Fusions to judge: {', '.join(FUSIONS)}.", show_default=False),
    ] = None,
    runs: Annotated[
        Path | None, typer.Option("--runs", help="Folder for TREC runs and qrels.", show_default=False)
    ] = None,
    exact: Exact = False,
    selector: SelectorOption = "match",
    json: Json = False,
) -> None:
    """Measure retrieval on questions with known answers; without names all eight views and the default fusion.

    Example:  trivium evaluate questions.jsonl --store my-store --retriever vector lexical --fusion default
    """
    with (
        Engine.open(store, selector=_selector(selector)) as engine,
        progress(quiet=json) as bars,
    ):
        report = engine.evaluate(
            questions,
            retriever,
            fusion,
            exact=exact,
            progress=lambda done, total: bars("questions", done, total),
        )
    if runs is not None:
        write_runs(report, runs)
    if json:
        print_json(report.to_json())
    else:
        print_report(report, out)


@app.command()
def stats(store: Store, json: Json = False) -> None:
    """Count nodes and relationships of a store.

    Example:  trivium stats --store my-store --json
    """
    with Engine.open(store) as engine:
        info = engine.info()
    if json:
        print_json(info_json(info))
    else:
        out.print(f"[bold]{escape(info.location)}[/]")
        print_info(info)


@app.command()
def demo(
    store: Annotated[
        str, typer.Option("--store", "-s", help="Where to build the sample store.")
    ] = "demo-store",
) -> None:
    """Build the sample encyclopaedia of the Solar System and ask it a few questions.

    Example:  trivium demo
    """
    with Engine.create(store) as engine:
        err.print(f"[dim]embedder: {escape(engine.embedder.identity.name)}[/]")
        _load(engine, [str(pages_folder())], "html", None, False, False)
        for question in DEMO_QUESTIONS:
            out.print()
            out.rule(style="dim")
            print_hits(question, engine.search(question, k=2, explain=True), explain=True)
    out.print()
    out.rule(style="dim")
    out.print(
        f'Ask it something else:  [bold]trivium search "your question" --store {escape(store)} --explain[/]'
    )


@models.command("list")
def models_list(json: Json = False) -> None:
    """List the models Trivium knows and which are installed.

    Example:  trivium models list
    """
    known = available()
    if json:
        print_json({"models": [asdict(model) for model in known]})
        return
    for model in known:
        state = "[green]installed[/]" if model.installed else "not installed"
        out.print(
            f"[bold]{model.name:<12}[/]{state:<24} {model.size / 1e6:5.0f} MB  {escape(model.description)}"
        )


@models.command("install")
def models_install(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Model to install, as in  trivium models list.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Fetch a model's files and check them against their pinned checksums.

    Example:  trivium models install bge-small
    """
    folder = install(name)
    if json:
        print_json({"name": name, "folder": str(folder)})
    else:
        out.print(f"{escape(name)} is installed in {escape(str(folder))}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the process ends with one of the exit codes above."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = typer.main.get_command(app)
    try:
        # Not standalone, so that the error is ours to show. Typer turns an interrupt into code 130.
        code = command.main(args=spread(given), prog_name="trivium", standalone_mode=False)
        if code == INTERRUPTED:
            err.print("interrupted: what was committed stays; run the same command again to go on")
    except typer.TyperException as error:
        rich_format_error(cast(Any, error))
        code = USAGE
    except TriviumError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        err.print(f"[bold red]error:[/] {shown(str(error))}", soft_wrap=True)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)
