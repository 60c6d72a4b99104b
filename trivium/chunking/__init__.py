"""Splits pages into chunks: the blocks found by their parser, or another strategy."""
