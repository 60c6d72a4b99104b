"""Fills a store: loads documents, embeds texts and sentences."""
