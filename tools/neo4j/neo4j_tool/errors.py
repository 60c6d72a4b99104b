"""The one error this tool raises on purpose."""

from __future__ import annotations


class ToolError(Exception):
    """What was expected, what came, and what to do about it; printed without a traceback, exit status 1."""
