"""Parameters of approximate vector indexes (HNSW graphs)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

WITHDRAWN: Mapping[str, str] = {
    "connectivity": "a node of an index has 16 edges",
    "expansion_add": "128 candidates are considered when a node is added, in Neo4j 100",
    "quantized": "an index holds bytes, in Neo4j 32-bit numbers",
}
"""Parameters that are gone, with what holds instead. For one release they are ignored with a warning. An index that was
made with them is made anew.
"""

_log = logging.getLogger(__name__)


class IndexParameters(BaseModel):
    """Parameters of the vector indexes of a folder store; None leaves the default. They are saved with the store. In
    ``trivium.toml`` they are the table ``[index]``; the environment variable ``TRIVIUM_INDEX`` is JSON.

    >>> IndexParameters(expansion_search=640).stored()
    '{"expansion_search": 640}'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    expansion_search: Annotated[int, Field(ge=1, le=3_200)] | None = None
    """Candidates considered in a search (``ef``), default 320. Higher values improve recall and slow down each question;
    the index need not be rebuilt.
    """

    approximate_from: Annotated[int, Field(ge=1)] | None = None
    """Vectors of a label from which there is an approximate index for it, default 65,536. Below that all vectors are
    compared, which finds the nearest for certain, needs no time to make an index, and takes longer the more there are.
    """

    @model_validator(mode="before")
    @classmethod
    def _without_withdrawn(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        for name in sorted(given.keys() & WITHDRAWN.keys()):
            _log.warning("index.%s is gone and ignored: %s", name, WITHDRAWN[name])
        return {name: value for name, value in given.items() if name not in WITHDRAWN}

    def stored(self) -> str | None:
        """Serialise the parameters for storage; None if none is set."""
        return json.dumps(self.chosen, sort_keys=True) if self.chosen else None

    @property
    def chosen(self) -> dict[str, int]:
        """The parameters that are set."""
        return self.model_dump(exclude_none=True)

    @classmethod
    def read(cls, stored: str | None) -> Self:
        """Parse the result of :meth:`stored`, also of an earlier version."""
        values = {} if stored is None else json.loads(stored)
        return cls.model_validate({name: value for name, value in values.items() if name not in WITHDRAWN})

    def changed(self, given: IndexParameters) -> IndexParameters:
        """Return a copy updated with the values explicitly set in ``given``, including None.

        >>> kept = IndexParameters(expansion_search=640, approximate_from=1000)
        >>> kept.changed(IndexParameters(expansion_search=None)).stored()
        '{"approximate_from": 1000}'
        """
        return self.model_copy(update={name: getattr(given, name) for name in given.model_fields_set})
