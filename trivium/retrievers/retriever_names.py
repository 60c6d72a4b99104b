"""The names of retrievers, importable without their implementations."""

from __future__ import annotations

RETRIEVERS = ("vector", "page", "section", "entity", "path", "lexical", "diffusion", "walk")
"""Names of the default retrievers, in display and storage order."""

OPTIONAL = ("image",)
"""Names of retrievers that are asked only when named, because not every store has the data they need."""

NAMES = f"{', '.join(RETRIEVERS)}; {', '.join(OPTIONAL)}; or those of installed packages"
"""The names as messages and help list them."""

PLUGINS = "trivium.retrievers"
"""Entry point group of retrievers in installed packages."""
