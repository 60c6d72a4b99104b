"""Readers compared: language models x prompts x temperatures x numbers of passages x contexts, from one file."""
