"""Compares readers: language models x prompts x temperatures x numbers of passages x contexts, defined in one file."""
