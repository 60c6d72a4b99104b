"""Readers of files that people write: each makes a :class:`~trivium.types.Page` of one file."""
