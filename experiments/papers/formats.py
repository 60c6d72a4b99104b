"""Tables as text of 80 columns, Markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence

from rich.console import Console

from experiments.papers.set_table import RECORD, SetTable
from trivium.evaluation.tables import Table

FORMATS = ("text", "markdown", "latex", "csv", "json")
WIDTH = 80
_SPECIAL = re.compile(r"[\\~^&%$#_{}]")
_ESCAPED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def printed(
    made: Sequence[SetTable],
    form: str,
    *,
    told: Mapping[str, object] | None = None,
    more: Sequence[Table] = (),
    records: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return tables in one of the FORMATS. What else belongs to them: ``told`` in JSON, ``more`` tables in text, Markdown
    and LaTeX, ``records`` in CSV.
    """
    if form == "json":
        tables = [one.to_json() for one in made]
        return json.dumps({"tables": tables, **(told or {})}, indent=1) + "\n"
    if form == "csv":
        text = io.StringIO()
        rows = csv.DictWriter(text, RECORD, lineterminator="\n")
        rows.writeheader()
        rows.writerows(record for one in made for record in one.records())
        rows.writerows(records)
        return text.getvalue()
    return shown([*(part for one in made for part in one.tables()), *more], form) + "\n"


def shown(tables: Sequence[Table], form: str) -> str:
    """Return tables in one of the FORMATS text, markdown and latex, each below its title."""
    if form == "latex":
        return "\n\n".join(map(latex, tables))
    if form == "markdown":
        return "\n\n".join(f"**{one.title}**\n\n{one.to_markdown()}" for one in tables)
    text = io.StringIO()
    console = Console(file=text, width=WIDTH, no_color=True, highlight=False)
    for one in tables:
        console.print(one)
        console.print()
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def latex(table: Table) -> str:
    r"""Return a table as a LaTeX environment that needs no package.

    >>> print(latex(Table(["a_b", "P"], [["50 %", ".5"]], title="T")))
    \begin{table}
    \caption{T}
    \begin{tabular}{lr}
    \hline
    a\_b & P \\
    \hline
    50 \% & .5 \\
    \hline
    \end{tabular}
    \end{table}
    """

    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(_escaped, cells)) + r" \\"

    columns = "l" * table.keys + "r" * (len(table.heads) - table.keys)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(table.title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            line(table.heads),
            r"\hline",
            *(line([f"{cell.text}{_mark(cell.mark)}" for cell in row]) for row in table.rows),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ESCAPED.get(found[0], "\\" + found[0]), text)


def _mark(mark: str) -> str:
    return " *" if mark else ""
