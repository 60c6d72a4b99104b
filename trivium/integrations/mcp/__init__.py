"""A server of the Model Context Protocol: tools with which an agent searches a store, asks questions, and reads
sections.
"""
