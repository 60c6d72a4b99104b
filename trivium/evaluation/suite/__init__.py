"""Evaluates several sets of questions, with all results in one folder."""
