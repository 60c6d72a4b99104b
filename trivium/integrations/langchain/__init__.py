"""A retriever and an answering step for LangChain, and its loaders as sources.

>>> from trivium.integrations.langchain import TriviumRetriever
>>> with TriviumRetriever(store="demo-store", k=3) as retriever:      # doctest: +SKIP
...     for document in retriever.invoke("Who discovered the two moons of Mars?"):
...         print(document.metadata["uri"], document.page_content)
"""

from trivium.errors import MissingExtraError

try:
    from trivium.integrations.langchain.answerer import TriviumAnswerer
    from trivium.integrations.langchain.loading import to_records, write_records
    from trivium.integrations.langchain.retriever import TriviumRetriever, document
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("langchain_core"):
        raise
    raise MissingExtraError("the LangChain retriever", "langchain") from None

__all__ = ["TriviumAnswerer", "TriviumRetriever", "document", "to_records", "write_records"]
