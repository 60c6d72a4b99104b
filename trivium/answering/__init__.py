"""From ranked passages to an answer that cites them, with a language model or without one."""
