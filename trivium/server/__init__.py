"""The HTTP API and its web page. Needs the extra ``serve``; no other part of the package imports it."""
