"""Several folder stores that are searched as one. Which ones, a folder says by a file (:mod:`.manifest`); each is asked,
and the answers are merged (:mod:`.reads`, :mod:`.searches`) so that retrievers see one store (:mod:`.store`).
"""
