"""Rerankers: slower models that reorder the first passages of a search."""
