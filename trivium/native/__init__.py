"""The inner loops, in C: products of vectors, places of words, walks, the characters of a PDF page. They are compiled
when the package is built; see :mod:`trivium.native.loops` for how they are called."""
