"""Fusion: turns a table of scores into one ranking. Works on arrays and saved hit lists, never on a store."""
