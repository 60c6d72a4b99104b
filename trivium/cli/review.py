"""Reviews questions one by one in the terminal, with single keys."""

from __future__ import annotations

import re
from collections.abc import Iterable

import typer
from rich.text import Text

from trivium.answering.passage_prompts import Source
from trivium.cli.terminal import out, shown
from trivium.synthetic.records import Decision
from trivium.synthetic.review import REVIEW_SETTINGS, Review
from trivium.synthetic.run_folder import Candidate, Run
from trivium.text.normalise import normalise_name, plain

_KEYS = {
    "a": "accept",
    "r": "reject",
    "s": "skip",
    "b": "back",
    "q": "quit",
}


def review_at_terminal(run: Run, keep: int) -> None:
    """Review questions until enough are kept, none is left, or the user quits. Raises InputError when another process
    is reviewing the same run.
    """
    with run.reviewed.writing(REVIEW_SETTINGS) as save:
        review = Review(run.candidates(), save, keep)
        while (candidate := review.current) is not None:
            _show(candidate, review)
            key = _key()
            if key == "q":
                break
            _act(key, review)
        if review.kept >= keep:
            out.print(
                f"\n{review.kept:,} kept: that is enough. [bold]trivium synthesize export[/] writes them."
            )
        elif review.waiting:
            out.print(f"\n{review.kept:,} kept, {review.waiting:,} to go; the same command goes on.")
        else:
            out.print(
                f"\n{review.kept:,} of {keep:,} kept, and nothing is left to decide on: generate and judge more",
                soft_wrap=True,
            )


def _act(key: str, review: Review) -> None:
    if key == "a":
        review.decide(Decision.ACCEPT)
    elif key == "r":
        review.decide(Decision.REJECT)
    elif key == "s":
        review.skip()
    elif key == "b" and not review.back():
        out.print("[dim]this is where you began[/]")


def _show(candidate: Candidate, review: Review) -> None:
    out.print()
    out.rule(f"{review.kept:,} kept of {review.keep:,}, {review.waiting:,} to decide on", style="dim")
    out.print(f"[bold]{shown(candidate.question)}[/]", soft_wrap=True)
    out.print(f"answer  [bold green]{shown(candidate.answer)}[/]", soft_wrap=True)
    out.print(f"bridge  [cyan]{shown(candidate.bridge.title)}[/]", soft_wrap=True)
    scores = ", ".join(f"{name.replace('_', ' ')} {score}" for name, score in candidate.judged.scores.items())
    out.print(f"[dim]scores  {scores} (together {candidate.judged.total})[/]")
    if candidate.decision is not None:
        out.print(f"[yellow]decided before: {candidate.decision}[/]")
    for number, source in enumerate(candidate.sources, start=1):
        out.print(
            f"\n[bold]{number}  {shown(source.headings)}[/]  [dim]{shown(source.uri)}[/]", soft_wrap=True
        )
        out.print(_marked(source, candidate.answer, candidate.bridge.names))
    legend = "   ".join(f"[bold]{key}[/] {does}" for key, does in _KEYS.items())
    out.print(f"\n{legend}")


def _marked(source: Source, answer: str, names: Iterable[str]) -> Text:
    """Highlight the answer and the names of the bridge in the passage."""
    text = Text(plain(source.text))
    for phrases, style in ((names, "cyan"), ([answer], "bold green")):
        for phrase in phrases:
            for found in _phrase(phrase).finditer(text.plain):
                text.stylize(style, *found.span())
    return text


def _phrase(phrase: str) -> re.Pattern[str]:
    """Match whole words, separated by any punctuation."""
    words = [re.escape(word) for word in normalise_name(phrase).split()]
    joined = r"[\W_]+".join(words)
    return re.compile(rf"\b{joined}\b" if words else r"(?!)", re.IGNORECASE)


def _key() -> str:
    """Read the next key that has a meaning. Several characters at once are a slip or a paste and are ignored."""
    while True:
        try:
            key = typer.getchar().lower()
        except EOFError:
            return "q"
        if key in _KEYS:
            return key
