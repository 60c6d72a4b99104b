"""What fills a store: load documents, embed texts and sentences."""
