"""Warns of questions in a language that the collection does not have: whether it answers them cannot be told by words."""

from __future__ import annotations

from collections.abc import Collection

from trivium.embedding.manifest import advise_many_languages, english_only
from trivium.text.languages import NAMES


def language_warnings(language: str, languages: Collection[str], embedder: str) -> tuple[str, ...]:
    """Return a warning, or nothing if the ``embedder`` can find passages in other languages than the question's."""
    if not english_only(embedder):
        return ()
    others = " and ".join(NAMES[code] for code in languages)
    return (
        f"the question seems to be in {NAMES[language]}, the documents are in {others}, and the store's embedder,"
        f" {embedder}, knows English only: ask in {others}, or build a store with an embedder of many languages"
        f" ({advise_many_languages()})",
    )
