"""Creates retrievers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trivium.errors import ConfigurationError
from trivium.plugins import create_plugin
from trivium.retrievers.diffusion import DiffusionRetriever, DiffusionSettings
from trivium.retrievers.lexical import LexicalRetriever, LexicalSettings
from trivium.retrievers.path import MatchSelector, PathRetriever, PathSettings, Selector
from trivium.retrievers.query import Retriever
from trivium.retrievers.retriever_names import OPTIONAL, PLUGINS, RETRIEVERS
from trivium.retrievers.setting_values import SettingValues, with_values
from trivium.retrievers.vector_retrievers import (
    EntityRetriever,
    EntitySettings,
    ImageRetriever,
    ImageSettings,
    PageRetriever,
    PageSettings,
    SectionRetriever,
    SectionSettings,
    VectorRetriever,
    VectorSettings,
)
from trivium.retrievers.walk import WalkRetriever, WalkSettings


@dataclass(frozen=True, slots=True)
class RetrieverSettings:
    """Settings of all retrievers. Defaults are those of the thesis where it gives a value."""

    vector: VectorSettings = field(default_factory=VectorSettings)
    page: PageSettings = field(default_factory=PageSettings)
    section: SectionSettings = field(default_factory=SectionSettings)
    entity: EntitySettings = field(default_factory=EntitySettings)
    path: PathSettings = field(default_factory=PathSettings)
    lexical: LexicalSettings = field(default_factory=LexicalSettings)
    diffusion: DiffusionSettings = field(default_factory=DiffusionSettings)
    walk: WalkSettings = field(default_factory=WalkSettings)
    image: ImageSettings = field(default_factory=ImageSettings)

    def with_values(self, values: SettingValues) -> Self:
        """Return these settings with some values replaced, by dotted name such as ``walk.damping``. Raises
        ConfigurationError for an unknown name or a value of the wrong type or range.
        """
        return with_values(self, values)


def make_retrievers(
    settings: RetrieverSettings | None = None,
    *,
    names: Sequence[str] = RETRIEVERS,
    selector: Selector | None = None,
) -> dict[str, Retriever]:
    """Create the named retrievers, in the order of :data:`~trivium.retrievers.retriever_names.RETRIEVERS`, followed by
    optional ones.

    ``selector`` is the selector of ``path``; the default needs no language model. Raises ConfigurationError for an
    unknown name.
    """
    known = (*RETRIEVERS, *OPTIONAL)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigurationError(
            f"unknown retriever {', '.join(map(repr, unknown))}; there are {', '.join(known)}"
        )
    settings = RetrieverSettings() if settings is None else settings
    everything: dict[str, Retriever] = {
        "vector": VectorRetriever(settings.vector),
        "page": PageRetriever(settings.page),
        "section": SectionRetriever(settings.section),
        "entity": EntityRetriever(settings.entity),
        "path": PathRetriever(settings.path, MatchSelector() if selector is None else selector),
        "lexical": LexicalRetriever(settings.lexical),
        "diffusion": DiffusionRetriever(settings.diffusion),
        "walk": WalkRetriever(settings.walk),
        "image": ImageRetriever(settings.image),
    }
    return {name: retriever for name, retriever in everything.items() if name in names}


def make_plugin(name: str, values: Mapping[str, Any]) -> Retriever:
    """Create the retriever that an installed package declares under this name (entry point group
    ``trivium.retrievers``), by calling the entry with the given settings. Raises ConfigurationError.
    """
    made = create_plugin(PLUGINS, name, values)
    if made is None:
        raise ConfigurationError(f"no installed package declares a retriever {name!r}")
    retriever: Retriever = made
    if retriever.name != name:
        raise ConfigurationError(f"the retriever declared as {name!r} calls itself {retriever.name!r}")
    return retriever
