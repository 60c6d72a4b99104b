"""Where the protocol and the records used to be: import them from :mod:`trivium.graph.protocols` and
:mod:`trivium.graph.records`."""

from trivium.graph.protocols import GraphStore as GraphStore
from trivium.graph.records import Adjacency as Adjacency
from trivium.graph.records import ChunkRecord as ChunkRecord
from trivium.graph.records import Codes as Codes
from trivium.graph.records import Floats as Floats
from trivium.graph.records import Neighbour as Neighbour
from trivium.graph.records import Passage as Passage
from trivium.graph.records import Progress as Progress
from trivium.graph.records import Reached as Reached
from trivium.graph.records import SentenceVectors as SentenceVectors
from trivium.graph.records import Similarities as Similarities
from trivium.graph.records import StoreInfo as StoreInfo
from trivium.graph.records import TermCounts as TermCounts
from trivium.graph.records import TermStatistics as TermStatistics
from trivium.graph.records import Vectors as Vectors
from trivium.graph.records import WriteReport as WriteReport
from trivium.graph.records import rank_key as rank_key
from trivium.graph.records import round_score as round_score
