"""How approximate vector indexes (HNSW graphs) are made and asked."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trivium.errors import ConfigurationError

Connectivity = Annotated[int, Field(ge=2, le=512)]
Expansion = Annotated[int, Field(ge=1, le=3_200)]


class IndexParameters(BaseModel):
    """Parameters of the vector indexes of a store; None leaves the store its own. They are kept with the store; another
    value makes its indexes anew. In ``trivium.toml`` they are the table ``[index]``, in the environment ``TRIVIUM_INDEX``
    is JSON.

    >>> IndexParameters(connectivity=32).stored()
    '{"connectivity": 32}'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    connectivity: Connectivity | None = None
    """Edges of a node in the graph (HNSW's M, in Neo4j ``vector.hnsw.m``): 16. More find more, and take memory and time
    to build."""

    expansion_add: Expansion | None = None
    """Nodes in sight while one is added (``ef_construction``): 128 in a folder, 100 in Neo4j. More find more, and take
    time to build."""

    expansion_search: Expansion | None = None
    """Nodes in sight while an index in a folder is asked (``ef``): 320. More find more, and take time with each question;
    the index stays. Neo4j has no such parameter."""

    quantized: bool | None = None
    """Whether the index holds a byte for each number of a vector (true in a folder; what is found is ordered by the exact
    vectors), or numbers of 16 bits in a folder and of 32 in Neo4j (false there, since Neo4j ranks by what the index
    holds)."""

    def stored(self) -> str | None:
        """As text, to be kept; None where nothing is set."""
        return json.dumps(self.chosen, sort_keys=True) if self.chosen else None

    @property
    def chosen(self) -> dict[str, int | bool]:
        """Those that are not left to the store."""
        return self.model_dump(exclude_none=True)

    @classmethod
    def read(cls, stored: str | None) -> Self:
        """What :meth:`stored` gave."""
        return cls() if stored is None else cls.model_validate_json(stored)

    def changed(self, given: IndexParameters) -> IndexParameters:
        """With what ``given`` says in its place: also None, where that was said.

        >>> IndexParameters(connectivity=32, expansion_add=64).changed(IndexParameters(connectivity=None)).stored()
        '{"expansion_add": 64}'
        """
        return self.model_copy(update={name: getattr(given, name) for name in given.model_fields_set})

    @property
    def of_building(self) -> tuple[Any, ...]:
        """What an index has to be made anew for."""
        return (self.connectivity, self.expansion_add, self.quantized)


def index_parameters(**values: Any) -> IndexParameters:
    """Parameters of which some are given. Raises ConfigurationError for one that is not known or out of range."""
    try:
        return IndexParameters.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigurationError(f"index.{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
