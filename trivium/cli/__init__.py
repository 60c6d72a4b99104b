"""The command ``trivium``: parses arguments, calls the engine and prints.

Exit codes: 0 success; 1 failure (stderr gives the reason); 2 invalid arguments or values; 3 success, but some documents
could not be read; 130 interrupted (committed work is kept and the same command resumes; a new store without any page is
removed).
"""

from trivium.cli.app import main

__all__ = ["main"]
