"""Sources outside of the collection that are asked when a question is: the web, arXiv, a MediaWiki."""
