"""Compares two runs question by question, on a web page."""
