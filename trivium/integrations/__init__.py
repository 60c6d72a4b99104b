"""Trivium inside other people's programs: LangChain chains and clients of the Model Context Protocol. Each needs its own
extra, and nothing else in the package imports it."""
