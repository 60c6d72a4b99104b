"""Support for testing custom parts: contract suites of the protocols, an embedder without a model, and a small store.

A suite is a class of test methods for pytest (or any runner that collects methods named ``test_...``). Inherit from it
and define how your part is created::

    from trivium.testing import EmbedderContract

    class TestMyEmbedder(EmbedderContract):
        def make(self):
            return MyEmbedder()
"""

from trivium.testing.contracts import (
    ChatModelContract,
    EmbedderContract,
    FusionContract,
    RerankerContract,
    RetrieverContract,
    SelectorContract,
)
from trivium.testing.toys import HashEmbedder, toy_query, toy_store

__all__ = [
    "ChatModelContract",
    "EmbedderContract",
    "FusionContract",
    "HashEmbedder",
    "RerankerContract",
    "RetrieverContract",
    "SelectorContract",
    "toy_query",
    "toy_store",
]
