"""Starts, stops and fills a Neo4j Community server whose jars come from Maven Central.

Standard library only: it must work before anything is installed. Linux and macOS.
"""
