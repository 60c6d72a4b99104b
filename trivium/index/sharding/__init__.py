"""Sharded builds: documents are parsed and embedded a few hundred at a time, locally or on the machines of a Ray
cluster, into files that are written atomically; one process then builds the store from them.

A shard contains all it needs to know (:mod:`.shards`), two functions process it (:mod:`.work`), and a runner calls
them: in this process (:mod:`.local`) or on a cluster (:mod:`.cluster`). Names, redirects, links between documents and
the choice between copies depend on all documents: they are resolved as in an ordinary build, in the order of the
sources, so that the store is the same.
"""

DOCUMENTS = 200
"""Documents per shard: a minute or two of work, which is what losing a node costs."""
