"""All runs on the same questions, ranked on one web page, with paired tests against one of them."""
