"""A copy of a store in memory: what a search reads, of one state of the database, so that a question asks the server for
that state alone."""
