"""The package ``ragas`` as a judge, with our language models and the store's embedder instead of its clients.

Prompts, schemas and arithmetic are the package's own (Es et al., EACL 2024), so results are comparable with others of
that version and judge. The package reports usage to its makers unless ``RAGAS_DO_NOT_TRACK`` is set, which is done
here.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import warnings
from collections.abc import Callable, Coroutine, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from trivium.embedding.embedder import Embedder
from trivium.errors import MissingExtraError
from trivium.evaluation.answers.judged import NO_PASSAGES, Asked, JudgedAnswer, MalformedError, UnjudgedError
from trivium.llm.chat_model import ChatModel, Message
from trivium.llm.json_replies import JsonSchema, json_objects

if TYPE_CHECKING:
    from ragas.embeddings.base import BaseRagasEmbedding
    from ragas.llms.base import InstructorBaseRagasLLM

MEASURES: Final = (
    "ragas_faithfulness", "ragas_answer_relevancy", "ragas_context_precision", "ragas_context_recall",
    "ragas_factual_correctness",
)  # fmt: skip
_OF_PASSAGES = ("ragas_faithfulness", "ragas_context_precision", "ragas_context_recall")

M = TypeVar("M", bound=BaseModel)


class RagasJudged(JudgedAnswer):
    """The measures of one answer, by name."""

    values: dict[str, float] = {}  # noqa: RUF012 - pydantic copies it

    def value(self, measure: str) -> float | None:
        """See :class:`~trivium.evaluation.answers.judged.JudgedAnswer`."""
        return self.values.get(measure)


class RagasJudge:
    """Asks one language model about one answer at a time."""

    def __init__(self, model: ChatModel, embedder: Embedder, measures: Sequence[str] = MEASURES) -> None:
        """``embedder`` compares questions with those that ``ragas_answer_relevancy`` generates from the answer;
        ``measures`` are those that are asked for. Raises MissingExtraError without the package.
        """
        self._asked, self._wanted = Asked(model), tuple(measures)
        self._score = _measures(self._asked, embedder)

    def judge(
        self,
        row: str,
        identifier: str,
        question: str,
        said: str,
        passages: Sequence[str],
        answers: Sequence[str],
    ) -> RagasJudged:
        """Judge what was ``said`` in answer to a question (an empty text is neither relevant nor correct), given the
        passages the reader received and the first known answer. Raises ChatModelError.
        """
        self._asked.forget()
        values: dict[str, float] = {}
        missing: dict[str, str] = {}
        for measure in self._wanted:
            if not passages and measure in _OF_PASSAGES:
                missing[measure] = NO_PASSAGES
            elif not said and measure in ("ragas_answer_relevancy", "ragas_factual_correctness"):
                values[measure] = 0.0
            elif said or measure != "ragas_faithfulness":  # which is undefined for an empty answer
                texts = {
                    "user_input": question,
                    "response": said,
                    "retrieved_contexts": list(passages),
                    "reference": answers[0],
                }
                try:
                    value = asyncio.run(self._score[measure](texts))
                except UnjudgedError as why:
                    missing[measure] = str(why)
                    continue
                if math.isnan(value):
                    missing[measure] = "ragas gave no number"
                else:
                    values[measure] = value
        return RagasJudged(
            row=row,
            question=identifier,
            values=values,
            missing=missing,
            **self._asked.counts,  # type: ignore[arg-type]
        )


def package_version() -> str:
    """Return the version of the package, on which the results depend. Raises MissingExtraError."""
    return str(_package().__version__)


def _package() -> Any:
    os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of its dependencies do not concern the user
        try:
            _stand_in_for_vertex()
            import ragas
            import ragas.metrics.collections
        except ImportError as error:
            raise MissingExtraError("judging by ragas", "ragas") from error
    return ragas


def _stand_in_for_vertex() -> None:
    """Provide a placeholder for a class that ragas 0.4 imports for comparisons but langchain-community has removed.
    Raises ImportError.
    """
    name = "langchain_community.chat_models.vertexai"
    if name not in sys.modules and find_spec(name) is None:
        module = ModuleType(name)
        module.ChatVertexAI = type("ChatVertexAI", (), {})  # type: ignore[attr-defined]
        sys.modules[name] = module


def _measures(
    asked: Asked, embedder: Embedder
) -> dict[str, Callable[[dict[str, Any]], Coroutine[Any, Any, float]]]:
    """Return, by measure, the function that computes it from the texts of an answer."""
    collections = _package().metrics.collections
    model = _model(asked)
    by_name = {
        "ragas_faithfulness": (
            collections.Faithfulness(llm=model),
            ("user_input", "response", "retrieved_contexts"),
        ),
        "ragas_answer_relevancy": (
            collections.AnswerRelevancy(llm=model, embeddings=_embeddings(embedder)),
            ("user_input", "response"),
        ),
        "ragas_context_precision": (
            collections.ContextPrecision(llm=model),
            ("user_input", "reference", "retrieved_contexts"),
        ),
        "ragas_context_recall": (
            collections.ContextRecall(llm=model),
            ("user_input", "retrieved_contexts", "reference"),
        ),
        "ragas_factual_correctness": (collections.FactualCorrectness(llm=model), ("response", "reference")),
    }

    def scoring(
        metric: Any, names: tuple[str, ...]
    ) -> Callable[[dict[str, Any]], Coroutine[Any, Any, float]]:
        async def score(texts: dict[str, Any]) -> float:
            return float((await metric.ascore(**{name: texts[name] for name in names})).value)

        return score

    return {name: scoring(metric, names) for name, (metric, names) in by_name.items()}


def _model(asked: Asked) -> InstructorBaseRagasLLM:
    """Adapt one of our judges to the package's language model interface."""
    from ragas.llms.base import InstructorBaseRagasLLM

    class Ours(InstructorBaseRagasLLM):  # type: ignore[misc]
        def generate(self, prompt: str, response_model: type[M]) -> M:
            return asked.ask(
                (Message("user", prompt),),
                strict_schema(response_model),
                lambda reply: read_reply(reply, response_model),
            )

        async def agenerate(self, prompt: str, response_model: type[M]) -> M:
            return self.generate(prompt, response_model)

    return Ours()


def _embeddings(embedder: Embedder) -> BaseRagasEmbedding:
    """Adapt one of our embedders to the package's interface."""
    from ragas.embeddings.base import BaseRagasEmbedding

    class Ours(BaseRagasEmbedding):  # type: ignore[misc]
        def embed_text(self, text: str, **_: object) -> list[float]:
            vector: list[float] = embedder.embed([text])[0].tolist()
            return vector

        async def aembed_text(self, text: str, **_: object) -> list[float]:
            return self.embed_text(text)

    return Ours()


def read_reply(reply: str, model: type[M]) -> M:
    """Return the first JSON object in a reply that matches ``model``. Raises MalformedError."""
    for value in json_objects(reply, list(model.model_fields)):
        try:
            return model.model_validate(value)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            place = ".".join(map(str, fault["loc"]))
            raise MalformedError(f"{place}: {fault['msg']}") from error
    raise MalformedError(f"no object with {', '.join(model.model_fields)}")


def strict_schema(model: type[BaseModel]) -> JsonSchema:
    """Return the strict JSON schema of a pydantic model, as endpoints require: all properties required, no others."""
    return _strict(model.model_json_schema())  # type: ignore[no-any-return]


def _strict(value: Any) -> Any:
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if not isinstance(value, dict):
        return value
    strict = {name: _strict(item) for name, item in value.items() if name != "default"}
    if strict.get("type") == "object" and "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict
