"""Rerankers: the first passages that were found, put in order anew by something slower that looks closer."""
