"""The option that says whose answers to Natural Questions count."""

from __future__ import annotations

import typer

from trivium.cli.arguments import wrong_argument
from trivium.parser.sources.annotators import MAJORITY, check_annotators


def annotators_rule(rule: str | None, *, asked: bool = True) -> str:
    """Whose answers count; refuses an unknown rule, and one where nobody ``asked`` for questions."""
    if rule is not None:
        if not asked:
            raise typer.BadParameter("it is about questions: add --questions", param_hint="--annotators")
        with wrong_argument("--annotators"):
            check_annotators(rule)
    return rule or MAJORITY
