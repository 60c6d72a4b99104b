"""Questions about the server itself."""

from __future__ import annotations

from typing import LiteralString

# Where its web pages are served, as configured.
WEB_SETTINGS: LiteralString = """
SHOW SETTINGS
  'server.http.enabled', 'server.http.listen_address', 'server.http.advertised_address',
  'server.https.enabled', 'server.https.listen_address', 'server.https.advertised_address'
YIELD name, value
RETURN name, value
"""
