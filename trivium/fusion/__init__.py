"""From a table of scores to one ranking. Sees arrays and saved lists, never a store."""
