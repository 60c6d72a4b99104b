"""Renders Sphinx roles in docstrings, such as :class:`Hit`, as the name in code font."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ROLE = re.compile(r":(?:class|meth|func|mod|data|attr|exc):`(?:~?[\w.]+\.)?~?([\w.]+?)`")


class Roles(Extension):
    """Replaces roles in docstrings by the names they refer to."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Handle an object after it was parsed."""
        if obj.docstring is not None:
            obj.docstring.value = _ROLE.sub(r"`\1`", obj.docstring.value)
