"""Docstrings are written with roles, such as :class:`Hit`; the site shows the name alone, as code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|exc):`(?:~?[\w.]+\.)?~?([\w.]+?)`")


class Roles(Extension):
    """Replaces roles in docstrings by the name they lead to."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for each object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = _ROLE.sub(r"`\1`", obj.docstring.value)
