"""The routes, one subject a file."""
