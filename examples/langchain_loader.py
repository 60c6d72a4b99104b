"""Builds a store from a loader of langchain-community and answers a question about its documents.

    pip install langchain-community
    python examples/langchain_loader.py notes/ "Who repaired the ferry?" --glob "**/*.txt

Without ``--model`` the answer consists of sentences of the passages; ``--model`` accepts the same values as ``trivium
ask``.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from langchain_community.document_loaders import DirectoryLoader, TextLoader
from langchain_core.runnables import RunnableLambda

import trivium
from trivium.integrations.langchain import TriviumAnswerer, to_records


def main() -> None:
    """Answer one question about a folder."""
    parser = argparse.ArgumentParser(description="A folder through a loader of langchain-community, asked.")
    parser.add_argument("folder")
    parser.add_argument("question")
    parser.add_argument("--glob", default="**/*.txt")
    parser.add_argument("--model", help="local, local:PATH, or openai:NAME; none quotes")
    given = parser.parse_args()
    loader = DirectoryLoader(given.folder, glob=given.glob, loader_cls=TextLoader)
    with tempfile.TemporaryDirectory() as place:
        with trivium.Engine.create(Path(place) / "store") as engine:
            report = engine.add_records(to_records(loader))
            print(f"{report.added} documents")
        with TriviumAnswerer(store=str(Path(place) / "store"), k=5, model=given.model) as answerer:
            chain = answerer | RunnableLambda(lambda found: f"{found['outcome']}: {found['answer']}")
            print(chain.invoke(given.question))


if __name__ == "__main__":
    main()
