"""Checking a store: is what it holds what was written, and does it follow the rules of the graph?"""
