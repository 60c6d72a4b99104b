"""Answers questions from ranked passages with citations, with or without a language model."""
