"""The switch for live sources: never, on request, or always."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal, get_args

from trivium.errors import InputError
from trivium.live.registry import SourceState, source_states, usual_sources
from trivium.settings.settings import load_settings

Mode = Literal["off", "allow", "force"]
"""``off``: live sources are never asked. ``allow``: those that a question names are asked. ``force``: the same, and
questions that name none use the default sources (setting ``live_sources``).
"""

MODES: tuple[Mode, ...] = get_args(Mode)

_log = logging.getLogger(__name__)


class LiveOffError(InputError):
    """A question names live sources although they are switched off."""


def as_mode(text: str) -> Mode:
    """Return the mode with this name. Raises InputError for an unknown one."""
    for mode in MODES:
        if mode == text:
            return mode
    raise InputError(f"expected one of {', '.join(MODES)}, got {text!r:.100}")


class LiveSwitch:
    """The mode of a server, which may be changed while it runs. Questions in progress are not affected."""

    def __init__(
        self,
        mode: Mode = "off",
        allow_by: str = "POST /live",
    ) -> None:
        """``allow_by`` describes how live sources can be allowed, for error messages."""
        self._mode: Mode = mode
        self._allow_by = allow_by

    @property
    def mode(self) -> Mode:
        """The current mode."""
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode = mode
        _log.info("live sources: %s", mode)

    @property
    def states(self) -> list[SourceState]:
        """The sources, and whether each of them can be asked."""
        return source_states(load_settings())

    @property
    def usual(self) -> tuple[str, ...]:
        """The sources of questions that name none, in the mode ``force``."""
        return usual_sources(load_settings())

    def sources_of(self, named: Sequence[str] | None) -> list[str] | None:
        """Return the sources to ask for a question that names these. Raises LiveOffError when live sources are off."""
        if self._mode == "off":
            if named:
                raise LiveOffError(
                    "live sources are switched off on this server: ask without sources, or have them allowed"
                    f" ({self._allow_by})"
                )
            return None
        if self._mode == "force" and not named:
            return list(self.usual)
        return None if named is None else list(named)
