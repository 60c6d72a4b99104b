"""Measures the retrieval of an open store on questions with known answers, and decides on its default fusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.answering.query_rewriting import rewrite_question
from trivium.common.progress import Progress
from trivium.datasets.questions import read_questions
from trivium.datasets.trace_gold import Traced, trace
from trivium.errors import InputError
from trivium.evaluation.default_gate import decide, verdict, why_not_instead
from trivium.evaluation.documents import DocumentRankings
from trivium.evaluation.report import Report
from trivium.evaluation.requests import EvaluateRequest
from trivium.evaluation.run import evaluate
from trivium.evaluation.trec_files import read_runs, refuse_unknown_chunks, unknown_chunks
from trivium.fusion.fusion_names import CONVEX, NETWORK
from trivium.fusion.hit_lists import HitFile, HitList, hit_list, save_hits
from trivium.fusion.network import NetworkFusion
from trivium.fusion.score_table import Table
from trivium.fusion.stored_decision import Decision
from trivium.graph.filter_language import parse
from trivium.graph.protocols import GraphReader
from trivium.parser.sources.source_items import Problem
from trivium.retrievers.query import Query, Retriever
from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.search.candidates import DEPTH
from trivium.search.fuse import Inputs, inputs_of
from trivium.search.ranking import Ranking, fused_ranking, own_ranking
from trivium.search.requests import MAX_K
from trivium.search.rerank_and_cut import Placed, SecondStage
from trivium.search.searcher import Searcher
from trivium.types import Question, Turn

CUT_K = 10
"""Maximum number of passages kept by a cut without bounds."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Measures what a searcher finds. Only :meth:`activate` and :meth:`forget_decision` write to the
    store."""

    searcher: Searcher

    def trace(self, questions: Sequence[Question]) -> Traced:
        """Return the gold chunks of questions in this store, or the reasons why some have none. Traced follow-up
        questions are returned in the form in which they are searched for
        (:func:`stand_alone`).
        """
        traced = trace(questions, self.searcher.store)
        return replace(traced, questions=stand_alone(traced.questions, self.searcher.store))

    def tables(
        self, questions: Iterable[Question], *, exact: bool = False, depth: int = DEPTH
    ) -> Iterable[Table]:
        """Iterate over the tables of all retrievers' scores, one per question, for tuning the convex combination."""
        retrievers = self.searcher.retrievers.choose()
        for question in stand_alone(questions, self.searcher.store):
            yield self.searcher.table(self.searcher.query(question.text, exact), retrievers, depth)

    def evaluate(
        self,
        request: EvaluateRequest,
        *,
        progress: Progress | None = None,
        reading: Progress | None = None,
    ) -> Report:
        """Measure what is asked for. ``progress`` counts questions, ``reading`` the bytes of the question files."""
        problems: list[Problem] = []
        if isinstance(request.questions, str | Path):
            asked = read_questions(
                request.questions,
                annotators=request.annotators,
                on_problem=problems.append,
                progress=reading,
            )
        else:
            asked = list(request.questions)
        condition = parse(request.where) if isinstance(request.where, str) else request.where
        hits, depth = request.hits, request.depth
        searcher = self.searcher
        listed = [one for one in request.retrievers if isinstance(one, str)]
        objects = {one.name: one for one in request.retrievers if not isinstance(one, str)}
        single = list(searcher.retrievers.choose(listed)) if listed else []
        fused = {
            **{one: searcher.fusions.get(one) for one in request.fusions if isinstance(one, str)},
            **{one.name: one for one in request.fusions if not isinstance(one, str)},
        }
        after = [searcher.second_stage(MAX_K, one, settings=request.settings) for one in request.rerank]
        cuts = [searcher.second_stage(CUT_K, cut=one) for one in request.cut]
        given = read_runs(request.runs, [question.id for question in asked])
        systems = (*single, *objects, *fused, *given)
        known = {*single, *(one for one in request.fusions if isinstance(one, str))}
        added = [one.name for one in (*request.retrievers, *request.fusions) if not isinstance(one, str)]
        if taken := [name for name, count in Counter([*known, *added, *given]).items() if count > 1]:
            raise InputError(
                f"expected runs named unlike the systems measured, got {', '.join(sorted(taken))}"
            )
        of_passages = request.documents is None or bool(after)
        unknown = unknown_chunks(given, searcher.store.chunk_uris) if of_passages else {}
        if after:
            refuse_unknown_chunks(unknown, "to rerank them")
        for name in systems:
            log_odds = name in fused and fused[name].log_odds and condition is None
            for stage in cuts:
                stage.check(calibrated=log_odds)
        traced = self.trace(asked)
        rankings: dict[str, list[Ranking]] = {}
        failed: Counter[str] = Counter()
        kept: list[HitList] = []
        signals = hits is not None or any(fusion.needs_signals for fusion in fused.values())

        def needed(inputs: Inputs) -> Mapping[str, Retriever]:
            """The retrievers of the table that is to be computed with these settings."""
            named = searcher.retrievers.choose(single, inputs=inputs) if single else {}
            return (
                {**searcher.retrievers.choose(inputs=inputs), **named} if fused or hits is not None else named
            )

        wanted = {name: inputs_of(fusion) for name, fusion in fused.items()}
        usual = [Inputs()] if single or hits is not None else []
        asking = {inputs: needed(inputs) for inputs in dict.fromkeys((*usual, *wanted.values()))}
        for done, question in enumerate(traced.questions, start=1):
            with searcher.limited(condition) as store:
                query = searcher.query(question.text, request.exact, store)
                tables = {
                    inputs: searcher.table(
                        query,
                        retrievers_with,
                        inputs.depth if depth == DEPTH else depth,
                        signals=inputs.signals if signals else None,
                    )
                    for inputs, retrievers_with in asking.items()
                }
                table = tables.get(Inputs())
                first: dict[str, Ranking] = {}
                if table is not None:
                    first = {name: own_ranking(table, name) for name in single}
                if objects:
                    found = searcher.table(query, objects, depth)
                    first |= {name: own_ranking(found, name) for name in objects}
                for name, fusion in fused.items():
                    own = tables[wanted[name]]
                    first[name] = fused_ranking(own, searcher.fuse(fusion, own).scores)
                first.update({name: list(run.get(question.id, ())) for name, run in given.items()})
                for name, ranking in _followed(query, first, after, cuts, failed).items():
                    rankings.setdefault(name, []).append(ranking)
            if hits is not None and table is not None:
                gold = traced.gold[question.id]
                kept.append(hit_list(question.id, question.text, table, gold.groups, gold.pages))
            if progress is not None:
                progress(done, len(traced.questions))
        if hits is not None:
            computed = replace(searcher.retrievers.inputs, depth=depth or DEPTH).values
            embedder, names = searcher.embedder.get().identity.name, searcher.store.entities is not None
            save_hits(Path(hits), HitFile(tuple(kept), embedder, computed, names))
        if not traced.questions:
            rankings = {name: [] for name in systems}
        if request.documents is not None:
            documents = DocumentRankings(searcher.store, request.documents)
            traced = replace(traced, gold={each: documents.gold(one) for each, one in traced.gold.items()})
            rankings = documents.of_all(rankings)
            theirs = {name: dict(enumerate(rankings[name])) for name in given}
            unknown = unknown_chunks(theirs, documents.names, "document")
        report = evaluate(asked, traced, rankings, request.measure)
        told = [f"{count} of {len(traced.questions)} questions: {why}" for why, count in failed.items()]
        warnings = (*(f"{words}: they count as wrong" for words in unknown.values()), *told)
        shown = ("passages",) if cuts else ()
        return replace(report, problems=tuple(problems), warnings=warnings, shown=shown)

    def activate(self, report: Report, fusion: str = NETWORK) -> Decision:
        """Decide from an evaluation on the user's own questions whether the trained ``fusion`` (``network``, or a
        folder) becomes what ``default`` means in this store: if the gate admits it
        (:mod:`trivium.evaluation.default_gate`) and it is not significantly worse than the row ``default``, the
        present one, where the report has it.

        Otherwise the default stays as it was, unless it is the rejected fusion itself: the network that ships gives way
        to the convex combination, a folder to the fusion of a store without a decision.

        The report needs rows of all eight retrievers, ``convex`` and the fusion. Other engines on the store use the
        decision once they are reopened. Raises InputError for a report without these rows and for a fusion that is
        not trained.
        """
        if not isinstance(self.searcher.fusions.get(fusion), NetworkFusion):
            raise InputError(
                f"expected a trained fusion to decide on, got {fusion!r}: there is nothing to decide"
            )
        gate = decide({"questions": verdict(report, fusion, RETRIEVERS)})
        why_not = why_not_instead(report, fusion) if gate.active else gate.because
        name = fusion if fusion == NETWORK else str(Path(fusion).resolve())
        decision = Decision(
            fusion=name if why_not is None else CONVEX,
            because=gate.because if why_not is None else why_not,
            questions=len(report.traced.questions),
            figures={"trained": name, **gate.to_json()["sets"]["questions"]},
        )
        present = self.searcher.fusions.of_store().name
        if why_not is None or (name == NETWORK and present in (NETWORK, CONVEX)):
            self._keep(decision.to_json())
            return decision
        if present == name:
            self._keep(None)
        return replace(decision, fusion=self.searcher.fusions.of_store().name)

    def forget_decision(self) -> str:
        """Remove the store's decision, and return what ``default`` means without one: the network shipped for the
        embedder if its gate is open, else the convex combination.
        """
        self._keep(None)
        return self.searcher.fusions.of_store().name

    def _keep(self, decision: str | None) -> None:
        self.searcher.store.set_fusion_decision(decision)
        self.searcher.fusions.forget_default()


def _followed(
    query: Query,
    first: Mapping[str, Ranking],
    after: Sequence[SecondStage],
    cuts: Sequence[SecondStage],
    failed: Counter[str],
) -> dict[str, Ranking]:
    """Return the rankings of each system, of each after each reranker, and of all these ended by each cut. Failures
    of rerankers are counted.
    """
    placed = {name: [Placed(uri, score) for uri, score in ranking] for name, ranking in first.items()}
    for name, ranking in first.items():
        for stage in after:
            telling = replace(stage, warn=failed.update)
            reranker = "" if stage.reranker is None else stage.reranker.name
            placed[f"{name} > {reranker}"] = telling.reranked(query, ranking)
    for name, found in list(placed.items()):
        for stage in cuts:
            placed[f"{name} > {stage.cut}"] = stage.ended(found)
    return {name: [(one.uri, one.deciding) for one in found] for name, found in placed.items()}


def stand_alone(questions: Iterable[Question], store: GraphReader) -> tuple[Question, ...]:
    """Return the questions as they are searched for, as ``trivium ask`` does without a language model. Those with a
    history are rewritten as standalone questions without one; the others are unchanged.
    """
    return tuple(_stand_alone(question, store) if question.history else question for question in questions)


def _stand_alone(question: Question, store: GraphReader) -> Question:
    turns = [turn if isinstance(turn, Turn) else Turn(turn, "") for turn in question.history]
    asked = rewrite_question(question.text, turns, None, store)
    return replace(question, text=asked.match_query, history=())
