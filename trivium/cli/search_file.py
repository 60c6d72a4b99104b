"""``trivium search --questions``: searches for all questions of a file and writes a TREC run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.cli.hits import print_warnings
from trivium.cli.terminal import out, print_json, progress, shown

if TYPE_CHECKING:
    from trivium.engine import Engine


def search_file(
    engine: Engine,
    questions: Path,
    run: Path,
    k: int,
    retrievers: Sequence[str] | None,
    fusion: str | None,
    json: bool,
    **options: Any,
) -> None:
    """Search for every question of a file and write the ``k`` best chunks of each to a TREC run named after its file.
    Known answers are not needed. When a reranker fails for a question, the order of the search is kept, and the number
    of failures is reported.
    """
    # Imported here because a search for a single question does not need them.
    from trivium.datasets.questions import read_questions
    from trivium.evaluation.follow_ups import stand_alone
    from trivium.evaluation.trec import system_of, write_run

    asked = stand_alone(read_questions(questions), engine.store)
    rankings: dict[str, list[tuple[str, float]]] = {}
    failed: Counter[str] = Counter()
    with progress(quiet=json) as bars:
        for done, question in enumerate(asked, start=1):
            hits = engine.search(question.text, k, retrievers, fusion, on_warnings=failed.update, **options)
            rankings[question.id] = [(hit.uri, hit.deciding) for hit in hits]
            bars("questions", done, len(asked))
    write_run(run, system_of(run), rankings)
    warnings = [f"{count} of {len(asked)} questions: {why}" for why, count in failed.items()]
    if json:
        told = {"warnings": warnings} if warnings else {}
        print_json(
            {"run": str(run), "questions": len(asked), "hits": sum(map(len, rankings.values())), **told}
        )
        return
    print_warnings(warnings, engine.store.location)
    out.print(shown(str(run)), soft_wrap=True)
