"""Measure the retrieval of an open store on questions with known answers, and decide on its default fusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.common.progress import Progress
from trivium.datasets.questions import read_questions
from trivium.datasets.trace import Traced, trace
from trivium.errors import InputError
from trivium.evaluation.follow_ups import stand_alone
from trivium.evaluation.gate import decide, verdict
from trivium.evaluation.report import Report
from trivium.evaluation.run import evaluate
from trivium.fusion.default_decision import Decision
from trivium.fusion.hits import HitFile, HitList, hit_list, save_hits
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import DEFAULT, NETWORK
from trivium.fusion.table import Table
from trivium.graph.filters import Condition, parse
from trivium.retrievers.registry import RETRIEVERS
from trivium.search.candidates import DEPTH
from trivium.search.ranking import Ranking, fused_ranking, own_ranking
from trivium.search.searcher import Searcher
from trivium.types import Question


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Measures what a searcher finds. Only :meth:`activate` writes to the store."""

    searcher: Searcher

    def trace(self, questions: Sequence[Question]) -> Traced:
        """The gold chunks of questions in this store, or the reasons why some have none. Follow-up questions that could
        be traced come as they are searched for (:func:`~trivium.evaluation.follow_ups.stand_alone`)."""
        traced = trace(questions, self.searcher.store)
        return replace(traced, questions=stand_alone(traced.questions, self.searcher.store))

    def tables(
        self, questions: Iterable[Question], *, exact: bool = False, depth: int = DEPTH
    ) -> Iterable[Table]:
        """The table of all retrievers' scores, question by question: what the convex combination is tuned on."""
        retrievers = self.searcher.retrievers.choose()
        for question in stand_alone(questions, self.searcher.store):
            yield self.searcher.table(self.searcher.query(question.text, exact), retrievers, depth)

    def evaluate(
        self,
        questions: str | Path | Sequence[Question],
        retrievers: Sequence[str] | None = None,
        fusions: Sequence[str] | None = None,
        *,
        exact: bool = False,
        hits: str | Path | None = None,
        where: str | Condition | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """See :meth:`trivium.engine.Engine.evaluate`. With ``where`` only chunks that match it are searched; gold
        chunks stay gold whether they match or not."""
        condition = parse(where) if isinstance(where, str) else where
        asked = read_questions(Path(questions)) if isinstance(questions, str | Path) else list(questions)
        if not retrievers and not fusions:
            retrievers, fusions = RETRIEVERS, (DEFAULT,)
        searcher = self.searcher
        single = list(searcher.retrievers.choose(retrievers)) if retrievers else []
        fused = {name: searcher.fusions.get(name) for name in fusions or ()}
        traced = self.trace(asked)
        rankings: dict[str, list[Ranking]] = {name: [] for name in [*single, *fused]}
        kept: list[HitList] = []
        everything = searcher.retrievers.choose()
        needed = {**everything, **searcher.retrievers.choose(single)} if single else everything
        if not fused and hits is None:
            needed = searcher.retrievers.choose(single)
        signals = hits is not None or any(fusion.needs_signals for fusion in fused.values())
        for done, question in enumerate(traced.questions, start=1):
            with searcher.limited(condition) as store:
                query = searcher.query(question.text, exact, store)
                table = searcher.table(query, needed, DEPTH, signals=signals)
            for name in single:
                rankings[name].append(own_ranking(table, name))
            for name, fusion in fused.items():
                rankings[name].append(fused_ranking(table, searcher.fuse(fusion, table).scores))
            if hits is not None:
                gold = traced.gold[question.id]
                kept.append(hit_list(question.id, question.text, table, gold.groups, gold.pages))
            if progress is not None:
                progress(done, len(traced.questions))
        if hits is not None:
            save_hits(Path(hits), HitFile(tuple(kept), searcher.embedder.get().identity.name))
        return evaluate(asked, traced, rankings)

    def activate(self, report: Report, fusion: str = NETWORK) -> Decision:
        """Decide by an evaluation on the user's own questions what ``default`` means in this store: the trained
        ``fusion`` (``network``, or a folder) where the gate lets it (:mod:`trivium.evaluation.gate`), else the convex
        combination.

        The report needs rows of all eight retrievers, ``convex`` and the fusion. Other engines on the store obey from
        when they are opened. Raises InputError for a report without them and for a fusion that is not trained.
        """
        if not isinstance(self.searcher.fusions.get(fusion), NetworkFusion):
            raise InputError(
                f"expected a trained fusion to decide on, got {fusion!r}: there is nothing to decide"
            )
        gate = decide({"questions": verdict(report, fusion, RETRIEVERS)})
        name = fusion if fusion == NETWORK else str(Path(fusion).resolve())
        decision = Decision(
            fusion=name if gate.active else "convex",
            because=gate.because,
            questions=len(report.traced.questions),
            figures={"trained": name, **gate.to_json()["sets"]["questions"]},
        )
        self.searcher.store.set_fusion_decision(decision.to_json())
        self.searcher.fusions.forget_default()
        return decision
