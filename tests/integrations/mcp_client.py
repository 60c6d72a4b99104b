"""The SDK's own client of an MCP server in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.types import CallToolResult

from trivium.engine import Engine
from trivium.integrations.mcp.server import create_server
from trivium.integrations.mcp.tools import Defaults

Call = Callable[..., CallToolResult]


@contextmanager
def connected(store: Path | Engine, defaults: Defaults | None = None) -> Iterator[Call]:
    """A client's tool calls."""
    server = create_server(store if isinstance(store, Engine) else Engine.open(store), defaults)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:

        def call(tool: str, *, seconds: float | None = None, **arguments: Any) -> CallToolResult:
            return portal.call(lambda: client.call_tool(tool, arguments, seconds))

        call.client, call.portal = client, portal  # type: ignore[attr-defined]
        yield call


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


def said(result: CallToolResult) -> str:
    """What an error says."""
    assert result.is_error and result.structured_content is None
    return text(result)
