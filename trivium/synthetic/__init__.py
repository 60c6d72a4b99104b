"""Generates a multi-hop benchmark from a store: sample bridge entities, write questions, judge, review, export."""
