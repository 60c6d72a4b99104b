"""All queries, by purpose. Values are passed as parameters only."""
