"""Lists of names on a command line.

This module is loaded before any command, so names are looked up only when a line contains such a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_Known = Callable[[str], bool]


def _is_number(word: str) -> bool:
    return re.fullmatch(r"(?:\d*\.)?\d+", word) is not None


def _is_retriever(word: str) -> bool:
    from trivium.plugins import list_plugins
    from trivium.rerank.reranker_names import PREFIX
    from trivium.retrievers.retriever_names import OPTIONAL, PLUGINS, RETRIEVERS

    named = word in (*RETRIEVERS, *OPTIONAL) or word.startswith(PREFIX)
    return named or word in list_plugins(PLUGINS)


def _is_fusion(word: str) -> bool:
    from trivium.fusion.fusion_names import FUSIONS, PLUGINS
    from trivium.plugins import list_plugins

    return word in FUSIONS or word in list_plugins(PLUGINS)


def _is_reranker(word: str) -> bool:
    from trivium.plugins import list_plugins
    from trivium.rerank.reranker_names import FAMILIES, PLUGINS

    return word.partition(":")[0] in FAMILIES or word in list_plugins(PLUGINS)


def _is_cut(word: str) -> bool:
    from trivium.search.cut import RULES

    return word.partition(":")[0] in RULES


def _is_live_source(word: str) -> bool:
    from trivium.live.registry import GROUP, SOURCES
    from trivium.plugins import list_plugins

    return word in SOURCES or word in list_plugins(GROUP)


_LISTS: dict[str, _Known] = {
    "--retriever": _is_retriever,
    "-r": _is_retriever,
    "--fusion": _is_fusion,
    "-f": _is_fusion,
    "--importance": _is_number,
    "--rank": _is_number,
    "--live": _is_live_source,
    "--rerank": _is_reranker,
    "--cut": _is_cut,
    "--judge-by": {"grades", "ragas"}.__contains__,
}
"""Options with several values, and the test for a word that may be a value."""


def spread(arguments: Sequence[str]) -> list[str]:
    """Rewrite ``--retriever a b`` and ``--retriever a,b`` as ``--retriever a --retriever b``, which the parser
    understands.

    A word after the first value belongs to the option only if it is a name that the option knows.

    >>> spread(["--retriever", "vector", "page", "question"])
    ['--retriever', 'vector', '--retriever', 'page', 'question']
    """
    result: list[str] = []
    option: str | None = None
    waiting = False  # the option has no value yet
    for place, word in enumerate(arguments):
        if word == "--":
            return [*result, *([option] if option and waiting else []), *arguments[place:]]
        name, equals, value = word.partition("=")
        if name in _LISTS:
            if option and waiting:
                result.append(option)
            option, waiting = name, not equals
            if equals:
                result += _each(name, value)
        elif option and not word.startswith("-") and (waiting or _all_known(option, word)):
            result += _each(option, word)
            waiting = False
        else:
            if option and waiting:
                result.append(option)  # no value: the parser reports it
            option, waiting = None, False
            result.append(word)
    return [*result, option] if option and waiting else result


def _each(option: str, value: str) -> list[str]:
    return [word for name in value.split(",") for word in (option, name.strip())]


def _all_known(option: str, value: str) -> bool:
    return all(_LISTS[option](name.strip()) for name in value.split(","))
