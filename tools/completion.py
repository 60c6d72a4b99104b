"""Writes ``trivium/completion.json``, the source of shell completion and of the command list in ``trivium --help``. Run
it after a change of the commands.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import typer

from trivium.chunking.chunker_spec import CHUNKERS
from trivium.cli.app import app
from trivium.embedding.e5 import NAME as E5
from trivium.embedding.image_embedders import IMAGE_EMBEDDERS
from trivium.embedding.manifest import manifest
from trivium.embedding.registry import GROUP as EMBEDDERS
from trivium.fusion.registry import FUSIONS
from trivium.fusion.registry import PLUGINS as FUSION_PLUGINS
from trivium.llm.registry import GROUP as CHAT_MODELS
from trivium.parser.sources.source_items import FORMATS
from trivium.rerank.registry import PLUGINS as RERANKERS
from trivium.rerank.reranker_names import FREE
from trivium.retrievers.llm_path_selectors import PLUGINS as SELECTOR_PLUGINS
from trivium.retrievers.llm_path_selectors import SELECTORS
from trivium.retrievers.registry import OPTIONAL, RETRIEVERS
from trivium.retrievers.registry import PLUGINS as RETRIEVER_PLUGINS
from trivium.search.cut import RULES
from trivium.shell_completion import TITLES, short
from trivium.text.languages import AUTO, NAMES
from trivium.types import ChunkKind

FILE = Path(__file__).resolve().parents[1] / "trivium" / "completion.json"

VALUES: dict[str, tuple[list[str], str | None]] = {
    "--format": (list(FORMATS), None),
    "--chunker": (list(CHUNKERS), None),
    "--entities": (["rules", "spacy:en_core_web_sm", "none"], None),
    "--language": ([*NAMES, AUTO], None),
    "--embedder": ([*manifest(), E5, "fastembed:", "openai:"], EMBEDDERS),
    "--images": (list(IMAGE_EMBEDDERS), None),
    "--retriever": ([*RETRIEVERS, *OPTIONAL], RETRIEVER_PLUGINS),
    "--fusion": (list(FUSIONS), FUSION_PLUGINS),
    "--rerank": (
        [*FREE[:-1], "weighted:", "small", "cross-encoder:", "llm-pointwise:", "llm-listwise:"],
        RERANKERS,
    ),
    "--cut": (list(RULES), None),
    "--selector": (list(SELECTORS), SELECTOR_PLUGINS),
    "--model": (["local", "none", "openai:"], CHAT_MODELS),
    "--judge": (["local", "openai:"], CHAT_MODELS),
    "--kind": ([str(kind) for kind in ChunkKind], None),
    "--weights": (["uniform", "cited"], None),
    "TITLE...": ([], TITLES),
}
"""Values of options and arguments, and the entry-point group that adds to them."""


def described() -> dict[str, Any]:
    """Return the commands with their options, from the Typer application."""
    root: Any = typer.main.get_command(app)
    return {**_command(root), "options": _options(root)}


def written(commands: dict[str, Any]) -> str:
    """Return the text of the file, with one option per line."""
    return json.dumps(commands, ensure_ascii=False, indent=1) + "\n"


def _command(command: Any) -> dict[str, Any]:
    about = _plain(command.help or "").partition("\n\n")[0]
    if hasattr(command, "commands"):
        children = {name: _command(child) for name, child in command.commands.items()}
        return {"help": about, "commands": children}
    return {"help": about, "options": _options(command)}


def _options(command: Any) -> dict[str, Any]:
    found = {}
    for parameter in command.params:
        argument = parameter.param_type_name == "argument"
        if parameter.name in ("install_completion", "show_completion", "help"):
            continue
        names = [parameter.metavar or parameter.name.upper()] if argument else parameter.opts
        option: dict[str, Any] = {"help": short(_plain(parameter.help or "").partition("  [")[0])}
        if getattr(parameter, "is_flag", False):
            option["flag"] = True
        elif parameter.nargs != 1 or getattr(parameter, "multiple", False):
            option["several"] = True
        choices = [str(choice) for choice in get_args(parameter.type_descriptor.annotation)]
        is_choice = parameter.type_descriptor.is_choice
        values, looked_up = (choices, None) if is_choice else VALUES.get(names[0], ([], None))
        if values:
            option["values"] = " ".join(values)
        if looked_up:
            option["looked_up"] = looked_up
        found[" ".join(names)] = option
    return found


def _plain(text: str) -> str:
    """Remove terminal markup and line breaks within paragraphs from a help text."""
    plain = re.sub(r"\[/?(?:bold|dim|red|green|cyan|italic)[^\]]*\]", "", text).replace("\\[", "[")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", plain)


if __name__ == "__main__":
    FILE.write_text(written(described()), encoding="utf-8")
