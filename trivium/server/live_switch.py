"""Whether this server asks live sources: never, where a question names them, or always."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Literal

from trivium.live.registry import SourceState, source_states, usual_sources
from trivium.server.errors import ApiError
from trivium.settings import Settings, load_settings

Mode = Literal["off", "allow", "force"]
"""``off``: no live source is asked. ``allow``: those that a question names are. ``force``: those, and where it names none
the usual ones (setting ``live_sources``)."""

_log = logging.getLogger(__name__)


class LiveSwitch:
    """The mode of a server, which may be changed while it runs. Questions under way go on as they began."""

    def __init__(self, mode: Mode = "off", settings: Callable[[], Settings] = load_settings) -> None:
        self._settings = settings
        self._mode: Mode = mode

    @property
    def mode(self) -> Mode:
        """The mode now."""
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode = mode
        _log.info("live sources: %s", mode)

    @property
    def states(self) -> list[SourceState]:
        """Of every source whether it can be asked."""
        return source_states(self._settings())

    @property
    def usual(self) -> tuple[str, ...]:
        """The sources of questions that name none, where the mode is ``force``."""
        return usual_sources(self._settings())

    def sources_of(self, named: Sequence[str] | None) -> list[str] | None:
        """The sources of a question that names these. Raises ApiError where it may name none."""
        if self._mode == "off":
            if named:
                raise ApiError(
                    403,
                    "live_off",
                    "live sources are switched off on this server: ask without sources, or have them allowed"
                    " (POST /live)",
                )
            return None
        if self._mode == "force" and not named:
            return list(self.usual)
        return None if named is None else list(named)
