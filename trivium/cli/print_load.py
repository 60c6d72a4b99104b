"""Prints what a load did, what it left out, and a suggested next command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from trivium.cli.options import default_store
from trivium.cli.terminal import count, err, out, own_name, shown
from trivium.embedding.manifest import english_only
from trivium.engine import Engine
from trivium.graph.records import StoreInfo
from trivium.graph.schema import unescape
from trivium.index.load_report import IngestReport, describe_kinds, location_shown
from trivium.parser.sources.source_items import Problem
from trivium.text.languages import ENGLISH, NAMES, StoreLanguages
from trivium.text.normalise import plain

if TYPE_CHECKING:
    from trivium.index.load_questions import QuestionReport

_PROBLEMS_SHOWN = 20
_MAX_TITLE = 60
_NAMED = 5
_LOOKED = 50


def print_waiting(engine: Engine, *, sentences: bool) -> None:
    """Print what a load will embed beside its own documents, because an earlier one left it."""
    texts = engine.info().to_embed
    passages = engine.store.count_pending_sentences() if sentences else 0
    parts = [count(texts, "text")] if texts else []
    if passages:
        parts.append(f"the sentences of {count(passages, 'passage')}")
    if parts:
        err.print(f"also embedding what was not embedded before: {' and '.join(parts)}", soft_wrap=True)


def print_load(engine: Engine, store: str, report: IngestReport, seconds: float, *, suggest: bool) -> None:
    """Print what a load did and what it left out; ``suggest`` a next command."""
    info = engine.info()
    counts = {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "removed": len(report.removed),
    }
    parts = [f"{number:,} {what}" for what, number in counts.items() if number] or ["none"]
    if report.skipped:
        parts.append(f"{len(report.skipped):,} older than the stored revision")
    if report.duplicates:
        parts.append(f"{count(len(report.duplicates), 'copy', 'copies')} of pages already read")
    out.print(f"[bold]Documents[/]: {', '.join(parts)}  [dim]({seconds:.1f} s)[/]", soft_wrap=True)
    for what, pages in (("replaced", report.changed), ("removed", report.removed)):
        if pages:
            out.print(f"  {what}: {shown(_some_of([unescape(page) for page in pages]))}", soft_wrap=True)
    if set(report.languages) - {ENGLISH}:
        named = ", ".join(f"{NAMES[code]} {count:,}" for code, count in report.languages.items())
        out.print(f"[bold]Languages[/]: {named}")
    if report.questions is not None:
        print_questions(report.questions)
    for hint in report.hints:
        err.print(f"hint: {shown(hint)}", soft_wrap=True)
    print_left_out(report)
    documents, passages = info.nodes.get("Page", 0), info.nodes.get("Chunk", 0)
    counted = f"{count(documents, 'document')}, {count(passages, 'passage')}"
    if suggest and info.nodes.get("Entity", 0) > documents:
        command = shlex.join([*own_name(), "entities", store])
        out.print(
            f"[bold]Names[/]: people, places and others, by  [bold]{escape(command)}[/]", soft_wrap=True
        )
    following = f"; next: [bold]{escape(_next_command(engine, store, info))}[/]" if suggest else ""
    out.print(f"{counted}{following}", soft_wrap=True)


def _some_of(titles: Sequence[str]) -> str:
    named = ", ".join(
        title if len(title) <= _MAX_TITLE else f"{title[:_MAX_TITLE]}…" for title in titles[:_NAMED]
    )
    return named if len(titles) <= _NAMED else f"{named} and {len(titles) - _NAMED:,} more"


def print_questions(report: QuestionReport) -> None:
    """Print how many questions have an answering chunk, and the first ones that have none."""
    out.print(
        f"[bold]Questions[/]: {report.traced:,} of {report.asked:,} traced, {report.relations:,} is_answer_of,"
        f" {report.changed:,} new or changed",
        soft_wrap=True,
    )
    untraced = len(report.untraced) + report.unlisted
    if untraced:
        err.print(f"{count(untraced, 'question')} could not be traced:")
        problems = [Problem(f"{u.location} ({u.id})", u.reason) for u in report.untraced]
        print_problems(problems, report.unlisted)


def print_left_out(report: IngestReport) -> None:
    """Print the files that were left out, and the documents that could not be read."""
    if report.left_out_kinds:
        err.print(f"left out {shown(describe_kinds(report.left_out_kinds))}", soft_wrap=True)
    if report.incomplete:
        err.print(f"{count(len(report.incomplete), 'document')} could be read only in part, without:")
        print_problems(report.incomplete)
    if report.problems:
        unread = len(report.problems) + report.unlisted
        err.print(f"[bold red]{count(unread, 'document')} could not be read:[/]")
        print_problems(report.problems, report.unlisted)


def print_problems(problems: Sequence[Problem], unlisted: int = 0) -> None:
    """Print the first problems, and the number of further ones."""
    for problem in problems[:_PROBLEMS_SHOWN]:
        err.print(f"  {shown(location_shown(problem))}: {shown(problem.reason)}", soft_wrap=True)
    more = max(0, len(problems) - _PROBLEMS_SHOWN)
    if more or unlisted:
        listed = f"--json lists the first {len(problems):,}" if unlisted else "--json lists them"
        err.print(f"  … and {more + unlisted:,} more ({listed})")


def _next_command(engine: Engine, store: str, info: StoreInfo) -> str:
    """Return a command to paste that fits the store: a question about one of its documents, or the step that is needed
    before.
    """
    words = [*own_name()]
    kept = StoreLanguages.read(engine.store.languages)
    first = kept.codes[0]
    refused = first != ENGLISH and not kept.any_embedder
    refused = refused and english_only(engine.indexer.embedder.name_for(first))
    if (info.embedder is None or info.to_embed) and refused:
        words += ["search", "your question", "--retriever", "lexical"]
    elif info.embedder is None or info.to_embed:
        words.append("embed")
    else:
        words += ["ask", _question(engine)]
    if store != default_store():
        words += ["--store", store]
    return shlex.join(words)


def _question(engine: Engine) -> str:
    titles = [unescape(page.uri) for page in engine.store.pages(limit=_LOOKED)]
    fit = [title for title in titles if len(title) <= _MAX_TITLE and title == plain(title)]
    # A number is rather part of a file's name than of what people ask for.
    named = next((title for title in fit if not re.search(r"\d", title)), next(iter(fit), None))
    return "your question" if named is None else f"Tell me about {named}."
