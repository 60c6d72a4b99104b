"""The index that searches read: names, links, words, vectors, sentences and what conditions test, as arrays.

It is made from the rows of any source of truth (:mod:`trivium.graph.arrays.row_source`), kept in the files of a folder,
and brought up to date in memory with what has changed since. It knows no database.
"""
