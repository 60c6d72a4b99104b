"""The HTTP API and the page at its root. Needs the extra ``serve``; nothing else in the package imports it."""
