"""Parameters of approximate vector indexes (HNSW graphs)."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trivium.errors import ConfigurationError

Connectivity = Annotated[int, Field(ge=2, le=512)]
Many = Annotated[int, Field(ge=1)]
Expansion = Annotated[int, Field(ge=1, le=3_200)]

OF_FOLDERS = ("expansion_search", "approximate_from")
"""Parameters that a store in Neo4j does not have."""


class IndexParameters(BaseModel):
    """Parameters of a store's vector indexes; None leaves the default of the store. They are saved with the store, and
    changing them rebuilds its indexes. In ``trivium.toml`` they are the table ``[index]``; the environment variable
    ``TRIVIUM_INDEX`` is JSON.

    >>> IndexParameters(connectivity=32).stored()
    '{"connectivity": 32}'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    connectivity: Connectivity | None = None
    """Edges per node of the graph (HNSW's M, in Neo4j ``vector.hnsw.m``), default 16. Higher values improve recall and
    need more memory and build time.
    """

    expansion_add: Expansion | None = None
    """Candidates considered when a node is inserted (``ef_construction``), default 128 in a folder, 100 in Neo4j.
    Higher values improve recall and need more build time.
    """

    expansion_search: Expansion | None = None
    """Candidates considered in a search of a folder store (``ef``), default 320. Higher values improve recall and slow
    down each question; the index need not be rebuilt. Neo4j has no such parameter.
    """

    quantized: bool | None = None
    """Whether the index stores one byte per vector component. Default true in a folder, where results are reranked with
    the exact vectors, and false in Neo4j, which ranks by the index itself. Otherwise a folder stores 16-bit and Neo4j
    32-bit numbers.
    """

    approximate_from: Many | None = None
    """Vectors of a label from which a folder store has an approximate index for it, default 65,536. Below that all
    vectors are compared, which finds the nearest for certain, needs no time to make an index, and takes longer
    the more there are. Neo4j has an index for every label.
    """

    def stored(self) -> str | None:
        """Serialise the parameters for storage; None if none is set."""
        return json.dumps(self.chosen, sort_keys=True) if self.chosen else None

    @property
    def chosen(self) -> dict[str, int | bool]:
        """The parameters that are set."""
        return self.model_dump(exclude_none=True)

    @classmethod
    def read(cls, stored: str | None) -> Self:
        """Parse the result of :meth:`stored`."""
        return cls() if stored is None else cls.model_validate_json(stored)

    def changed(self, given: IndexParameters) -> IndexParameters:
        """Return a copy updated with the values explicitly set in ``given``, including None.

        >>> IndexParameters(connectivity=32, expansion_add=64).changed(IndexParameters(connectivity=None)).stored()
        '{"expansion_add": 64}'
        """
        return self.model_copy(update={name: getattr(given, name) for name in given.model_fields_set})

    @property
    def of_server(self) -> IndexParameters:
        """Those that Neo4j has, too."""
        return self.model_copy(update=dict.fromkeys(OF_FOLDERS))

    @property
    def of_building(self) -> tuple[Any, ...]:
        """The parameters whose change requires rebuilding the index of a label."""
        return (self.connectivity, self.expansion_add, self.quantized)


def index_parameters(**values: Any) -> IndexParameters:
    """Create parameters from some values. Raises ConfigurationError for an unknown parameter or a value out of range."""
    try:
        return IndexParameters.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigurationError(f"index.{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
