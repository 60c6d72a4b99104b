"""Checks the integrity of a store and the rules of its graph."""
