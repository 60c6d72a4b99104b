"""An agent of LangChain, the real one, with the retriever as its tool: the lines of the guide as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from tests.code_blocks import blocks
from tests.server.world import build_store
from trivium.engine import Engine

PAGE = "docs/howto/langchain.md"
QUESTION = "Who discovered the two moons of Mars?"


class Scripted(BaseChatModel):
    """Calls the only tool with the question, then answers with the first passage that the tool has found."""

    tools: Sequence[Any] = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return Scripted(tools=tools)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        (tool,) = self.tools
        told = messages[-1]
        call = {"name": tool.name, "args": {"query": told.text}, "id": "1"}
        said = (
            AIMessage(told.text.partition("\n\n")[0])
            if isinstance(told, ToolMessage)
            else AIMessage("", tool_calls=[call])
        )
        return ChatResult(generations=[ChatGeneration(message=said)])


def test_an_agent_asks_the_retriever_and_answers_with_its_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langchain.agents")
    store = build_store(tmp_path)
    (block,) = [block for block in blocks(PAGE) if "create_agent" in block.text]
    assert block.text.count('"openai:gpt-4o-mini"') == 1 and QUESTION in block.text
    text = block.text.replace('"openai:gpt-4o-mini"', "model").replace('"my-store"', repr(str(store)))
    found: dict[str, Any] = {"model": Scripted()}
    exec(compile(text, PAGE, "exec"), found)
    with Engine.open(store) as engine:
        hits = engine.search(QUESTION, 4)
    _, called, told, answer = found["state"]["messages"]
    assert called.tool_calls[0]["args"] == {"query": QUESTION}
    assert [document.id for document in told.artifact] == [hit.uri for hit in hits]
    assert told.text == "\n\n".join(f"[{hit.uri}] {hit.text}" for hit in hits)
    assert capsys.readouterr().out == f"{answer.text}\n" and answer.text.startswith(f"[{hits[0].uri}] ")
