"""Ranks all runs on the same questions on one web page, with paired tests against a baseline."""
