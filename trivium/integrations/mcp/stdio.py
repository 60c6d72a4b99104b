"""The stdio transport. Every request gets a response, including malformed lines.

The SDK ignores lines that are not valid messages, so their sender would wait forever.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio
from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, jsonrpc_message_adapter
from mcp.types.jsonrpc import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification
from pydantic import ValidationError

from trivium.integrations.mcp.store_access import Library
from trivium.text.normalise import has_lone_surrogate

MAX_LINE = 4 << 20
"""Maximum size of a message in bytes, a thousand times the longest accepted question."""


class StdioServer(MCPServer[Library]):
    """A server whose stdio transport also responds to invalid messages."""

    async def run_stdio_async(self) -> None:
        """Serve until the client closes the connection."""
        async with _answering_stdio() as (read, write):
            server = self._lowlevel_server
            await server.run(read, write, server.create_initialization_options())


@asynccontextmanager
async def _answering_stdio() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the two message streams of the SDK."""
    with _client_pipes() as (incoming, outgoing):
        lines = _Lines(incoming)
        stdin = cast(Any, lines)  # the SDK accepts any asynchronous iterator of lines
        stdout = anyio.wrap_file(TextIOWrapper(outgoing, encoding="utf-8"))
        async with stdio_server(stdin, stdout) as (read, write):
            lines.answer_by(write)
            yield read, write


@contextmanager
def _client_pipes() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Reserve standard input and output for the protocol: other readers get no input, and other output goes to stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    try:
        # Not closed here, because a thread may still be waiting for input.
        yield os.fdopen(incoming, "rb", closefd=False), os.fdopen(outgoing, "wb", closefd=False)
    finally:
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


class _Lines:
    """The client's messages, one per line. Invalid lines are answered with an error."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._write: Any = None

    def answer_by(self, write: Any) -> None:
        """Set the stream for errors. Nothing is read before."""
        self._write = write

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await to_thread.run_sync(self._file.readline, MAX_LINE, abandon_on_cancel=True):
            if len(line) == MAX_LINE and not line.endswith(b"\n"):
                await to_thread.run_sync(self._skip_line, abandon_on_cancel=True)
                error = _refusal(
                    None, INVALID_REQUEST, f"expected at most {MAX_LINE:,} bytes a message, got more"
                )
                await self._write.send(SessionMessage(error))
            elif text := line.decode("utf-8", "replace").strip():
                refused = refusal(text)
                if refused is None:
                    yield text
                else:
                    await self._write.send(SessionMessage(refused))

    def _skip_line(self) -> None:
        while (rest := self._file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass


def refusal(line: str) -> JSONRPCError | None:
    """Return the error response to an invalid line; None for a valid message."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, JSONRPCNotification):
            return None
    except ValidationError:
        message = None
    try:
        parsed = json.loads(line)
        halved = has_lone_surrogate(json.dumps(parsed, ensure_ascii=False))
    except ValueError as error:
        return _refusal(None, PARSE_ERROR, f"expected JSON, got something else: {error}")
    except RecursionError:
        return _refusal(None, PARSE_ERROR, "expected JSON of a few levels, got too many")
    if not isinstance(parsed, dict):
        return _refusal(None, INVALID_REQUEST, f"expected an object, got {type(parsed).__name__}")
    number = parsed.get("id")
    known = isinstance(number, str) and not has_lone_surrogate(number)
    known = known or (isinstance(number, int) and not isinstance(number, bool))
    if halved:
        fault = "expected text, got half a surrogate pair, which is no character"
    elif "id" in parsed and not known:
        # The SDK would treat such a request as a notification.
        fault = f"expected an id that is text or a whole number, got {type(number).__name__}"
    elif message is not None:
        return None
    else:
        fault = "expected a JSON-RPC 2.0 request with a method, and params that are an object"
    return _refusal(number if known else None, INVALID_REQUEST, fault)


def _refusal(number: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))
