"""Live sources outside the collection that are queried together with it: web search, arXiv, a MediaWiki."""
