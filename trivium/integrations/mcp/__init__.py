"""A server of the Model Context Protocol: an agent's tools to search a store, ask it, and read on in it."""
