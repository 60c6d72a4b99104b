"""The switch for live sources."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from trivium.server.live_switch import LiveSwitch, Mode
from trivium.server.schemas import Given, errors
from trivium.server.service import Serving

router = APIRouter(tags=["live"])


class NamedSource(BaseModel):
    """A live source that a question may name."""

    name: str
    stands_for: str = Field(description="The source that is asked; for `web` the first configured one.")
    ready: bool
    lacks: str | None = Field(description="The missing setting.")


class LiveState(BaseModel):
    """Whether live sources are asked: `off` never, `allow` when a question names them, `force` always (`usual` for
    questions that name none).
    """

    mode: Mode
    usual: list[str]
    sources: list[NamedSource]

    @classmethod
    def of(cls, switch: LiveSwitch) -> LiveState:
        """Create the state of a switch."""
        return cls(
            mode=switch.mode,
            usual=list(switch.usual),
            sources=[
                NamedSource(
                    name=state.name, stands_for=state.stands_for, ready=state.lacks is None, lacks=state.lacks
                )
                for state in switch.states
            ],
        )


class LiveChange(Given):
    """The new mode."""

    mode: Mode = Field(examples=["allow"])


@router.get("/live")
def read_live(serving: Serving) -> LiveState:
    """Return whether live sources are asked, and the list of sources."""
    return LiveState.of(serving.live)


@router.post("/live", responses=errors(400, 413, 422))
def change_live(given: LiveChange, serving: Serving) -> LiveState:
    """Switch live sources off, allow or force them until the server ends. Needs a key with the scope write."""
    serving.live.mode = given.mode
    return LiveState.of(serving.live)
