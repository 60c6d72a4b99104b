"""The routes, one subject per module."""
