"""Several sets of questions judged at once, kept in one folder."""
