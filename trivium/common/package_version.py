"""The version of the installed package."""

from __future__ import annotations

from importlib import metadata


def package_version() -> str:
    """Return the version of the installed package; "dev" in a source tree that is not installed."""
    try:
        return metadata.version("trivium")
    except metadata.PackageNotFoundError:
        return "dev"
