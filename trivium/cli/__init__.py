"""The command ``trivium``: parses arguments, calls the engine, prints.

Exit codes: 0 done; 1 failed (the message on stderr says why); 2 wrong arguments, values too; 3 done, but some documents
could not be read; 130 interrupted (what was committed stays, the same command goes on from there; a new store
without a page is removed).
"""

from trivium.cli.app import main

__all__ = ["main"]
