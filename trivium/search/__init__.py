"""From a question to ranked, explained hits."""
