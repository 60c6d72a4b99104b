"""Building by shards: documents are parsed and embedded a few hundred at a time, here or on the machines of a Ray
cluster, into files that are there whole or not at all; one process then makes the store of them.

What a shard needs to know is in it (:mod:`.shards`), what is done with it is two functions (:mod:`.work`), and who calls
them is a runner: this process (:mod:`.local`) or a cluster (:mod:`.cluster`). Names, redirects, links between documents
and which of two copies stays hang on all documents: they are settled where a plain build settles them, in the order of
the sources, so that the store is the same.
"""

DOCUMENTS = 200
"""Documents of a shard: a minute or two of work, which is what a lost node costs."""
