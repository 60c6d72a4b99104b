"""Readers of document files. Each converts one file to a :class:`~trivium.types.Page`."""
