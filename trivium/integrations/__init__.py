"""Integrations with other software: LangChain, Haystack and clients of the Model Context Protocol. Each needs its own
extra, and no other part of the package imports it.
"""
