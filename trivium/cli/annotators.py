"""The option that selects which annotators' answers to Natural Questions are used."""

from __future__ import annotations

import typer

from trivium.cli.arguments import wrong_argument
from trivium.parser.sources.annotators import MAJORITY, check_annotators


def annotators_rule(rule: str | None, *, asked: bool = True) -> str:
    """Validate the rule. Raises typer.BadParameter for an unknown rule, or for any rule when no questions were
    ``asked`` for.
    """
    if rule is not None:
        if not asked:
            raise typer.BadParameter("it is about questions: add --questions", param_hint="--annotators")
        with wrong_argument("--annotators"):
            check_annotators(rule)
    return rule or MAJORITY
