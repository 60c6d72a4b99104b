"""Trivium: a knowledge graph from encyclopedic documents, and retrieval that fuses many views of relevance.

:class:`Engine` is the main entry point. This module exports it, the types of its arguments and results, and every error
it raises. Each name is imported on first use, so ``import trivium`` is fast and needs no optional package.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Unless told not to, ONNX Runtime keeps an id of the device in the user's cache and reports its use to its makers.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

if TYPE_CHECKING:
    from trivium.answering.events import AnswerEvent as AnswerEvent
    from trivium.answering.events import Done as Done
    from trivium.answering.events import Found as Found
    from trivium.answering.events import Piece as Piece
    from trivium.checking.report import CheckReport as CheckReport
    from trivium.embedding.embedder import Embedder as Embedder
    from trivium.engine import Engine as Engine
    from trivium.errors import AudioError as AudioError
    from trivium.errors import AudioTooLongError as AudioTooLongError
    from trivium.errors import ChatModelError as ChatModelError
    from trivium.errors import ChunkerMismatchError as ChunkerMismatchError
    from trivium.errors import ConfigurationError as ConfigurationError
    from trivium.errors import EmbedderMismatchError as EmbedderMismatchError
    from trivium.errors import EmbeddingError as EmbeddingError
    from trivium.errors import FusionError as FusionError
    from trivium.errors import InputError as InputError
    from trivium.errors import MissingExtraError as MissingExtraError
    from trivium.errors import ModelNotInstalledError as ModelNotInstalledError
    from trivium.errors import NotEmbeddedError as NotEmbeddedError
    from trivium.errors import NothingReadError as NothingReadError
    from trivium.errors import ParseError as ParseError
    from trivium.errors import QuestionFileError as QuestionFileError
    from trivium.errors import RerankError as RerankError
    from trivium.errors import SpeechError as SpeechError
    from trivium.errors import StoreBusyError as StoreBusyError
    from trivium.errors import StoreChangedError as StoreChangedError
    from trivium.errors import StoreError as StoreError
    from trivium.errors import StoreFormatError as StoreFormatError
    from trivium.errors import StoreNotFoundError as StoreNotFoundError
    from trivium.errors import TriviumError as TriviumError
    from trivium.evaluation.report import Report as Report
    from trivium.fusion.score_table import Fused as Fused
    from trivium.fusion.score_table import Fusion as Fusion
    from trivium.fusion.score_table import Table as Table
    from trivium.graph.backup import BackupReport as BackupReport
    from trivium.graph.check_findings import Finding as Finding
    from trivium.graph.check_findings import Severity as Severity
    from trivium.graph.protocols import GraphStore as GraphStore
    from trivium.graph.records import StoreInfo as StoreInfo
    from trivium.graph.source_store.source_of_truth import SourceOfTruth as SourceOfTruth
    from trivium.graph.source_store.source_of_truth import StoredPage as StoredPage
    from trivium.graph.source_store.store import SourceStore as SourceStore
    from trivium.index.load_report import IngestReport as IngestReport
    from trivium.live.source import LiveDocument as LiveDocument
    from trivium.live.source import LiveSource as LiveSource
    from trivium.llm.chat_model import ChatModel as ChatModel
    from trivium.llm.chat_model import Message as Message
    from trivium.llm.chat_model import Reply as Reply
    from trivium.llm.chat_model import ReplyUsage as ReplyUsage
    from trivium.parser.documents.document_file import DocumentFile as DocumentFile
    from trivium.parser.documents.formats import DocumentFormat as DocumentFormat
    from trivium.rerank.reranker import Deadline as Deadline
    from trivium.rerank.reranker import RerankCandidate as RerankCandidate
    from trivium.rerank.reranker import Reranker as Reranker
    from trivium.retrievers.path import Option as Option
    from trivium.retrievers.path import Selector as Selector
    from trivium.retrievers.query import Candidate as Candidate
    from trivium.retrievers.query import Query as Query
    from trivium.retrievers.query import Retriever as Retriever
    from trivium.search.cut import Cut as Cut
    from trivium.search.stage_timing import StageEnded as StageEnded
    from trivium.serialization import to_pandas as to_pandas
    from trivium.settings.limits import InputLimits as InputLimits
    from trivium.settings.settings import Settings as Settings
    from trivium.types import Answer as Answer
    from trivium.types import AnswerPart as AnswerPart
    from trivium.types import Attribution as Attribution
    from trivium.types import Chunk as Chunk
    from trivium.types import ChunkKind as ChunkKind
    from trivium.types import Citation as Citation
    from trivium.types import Disagreement as Disagreement
    from trivium.types import EmbedderIdentity as EmbedderIdentity
    from trivium.types import Evidence as Evidence
    from trivium.types import GoldPassage as GoldPassage
    from trivium.types import GraphPath as GraphPath
    from trivium.types import Hit as Hit
    from trivium.types import Link as Link
    from trivium.types import LiveOrigin as LiveOrigin
    from trivium.types import MarkedText as MarkedText
    from trivium.types import NoAnswer as NoAnswer
    from trivium.types import Page as Page
    from trivium.types import Question as Question
    from trivium.types import Relation as Relation
    from trivium.types import Section as Section
    from trivium.types import SourceOutcome as SourceOutcome
    from trivium.types import Statement as Statement
    from trivium.types import Turn as Turn
    from trivium.types import Usage as Usage

_MODULES = {
    "answering.events": ("AnswerEvent", "Done", "Found", "Piece"),
    "checking.report": ("CheckReport",),
    "embedding.embedder": ("Embedder",),
    "engine": ("Engine",),
    "errors": (
        "AudioError",
        "AudioTooLongError",
        "ChatModelError",
        "ChunkerMismatchError",
        "ConfigurationError",
        "EmbedderMismatchError",
        "EmbeddingError",
        "FusionError",
        "InputError",
        "MissingExtraError",
        "ModelNotInstalledError",
        "NothingReadError",
        "ParseError",
        "QuestionFileError",
        "RerankError",
        "SpeechError",
        "StoreBusyError",
        "NotEmbeddedError",
        "StoreChangedError",
        "StoreError",
        "StoreFormatError",
        "StoreNotFoundError",
        "TriviumError",
    ),
    "evaluation.report": ("Report",),
    "fusion.score_table": ("Fused", "Fusion", "Table"),
    "graph.backup": ("BackupReport",),
    "graph.check_findings": ("Finding", "Severity"),
    "graph.protocols": ("GraphStore",),
    "graph.records": ("StoreInfo",),
    "graph.source_store.source_of_truth": ("SourceOfTruth", "StoredPage"),
    "graph.source_store.store": ("SourceStore",),
    "index.load_report": ("IngestReport",),
    "settings.limits": ("InputLimits",),
    "live.source": ("LiveDocument", "LiveSource"),
    "llm.chat_model": ("ChatModel", "Message", "Reply", "ReplyUsage"),
    "parser.documents.document_file": ("DocumentFile",),
    "parser.documents.formats": ("DocumentFormat",),
    "rerank.reranker": ("Deadline", "RerankCandidate", "Reranker"),
    "retrievers.query": ("Candidate", "Query", "Retriever"),
    "retrievers.path": ("Option", "Selector"),
    "search.cut": ("Cut",),
    "search.stage_timing": ("StageEnded",),
    "serialization": ("to_pandas",),
    "settings.settings": ("Settings",),
    "types": (
        "Answer",
        "AnswerPart",
        "Attribution",
        "Chunk",
        "ChunkKind",
        "Citation",
        "Disagreement",
        "EmbedderIdentity",
        "Evidence",
        "GoldPassage",
        "GraphPath",
        "Hit",
        "Link",
        "LiveOrigin",
        "MarkedText",
        "NoAnswer",
        "Page",
        "Question",
        "Relation",
        "Section",
        "SourceOutcome",
        "Statement",
        "Turn",
        "Usage",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "__version__",
    *sorted(_HOME),
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"trivium.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
