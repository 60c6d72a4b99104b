"""Lists the entities of a store around which questions can be made, and tests whether exported gold passages are traced
back to their chunks.

    python experiments/synthetic/pool.py --store joint-store
"""

from __future__ import annotations

from collections import Counter

from experiments import command
from trivium.datasets.trace_gold import trace
from trivium.graph.open_store import open_store
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import unescape
from trivium.synthetic.sample_bridges import Sampling, draw
from trivium.types import GoldPassage, Question

ALL = 10**9


def main() -> None:
    """Run the experiment and print the results."""
    parser = command.Parser(__doc__, takes="a minute")
    parser.add_argument("--store", type=command.store, required=True)
    with open_store(parser.parse_args().store) as store:
        for kinds in (("paragraph",), ("paragraph", "list"), ("paragraph", "list", "table", "infobox")):
            for most in (20, 50, 200):
                count = len(draw(store, Sampling(entities=ALL, kinds=kinds, most_cited=most)))
                print(f"{', '.join(kinds):<32} cited by at most {most:>3}: {count:,} entities")
        _retrace(store)


def _retrace(store: GraphStore) -> None:
    bridges = draw(store, Sampling(entities=ALL))
    offered = Counter(len(bridge.sources) for bridge in bridges)
    print("passages offered:", ", ".join(f"{n} of {count:,}" for n, count in sorted(offered.items())))
    sources = {source.uri: source for bridge in bridges for source in bridge.sources}
    questions = [
        Question(uri, "?", gold_passages=(GoldPassage(unescape(source.page), source.text),))
        for uri, source in sources.items()
    ]
    traced = trace(questions, store)
    exact = sum(traced.gold[question.id].groups == ((question.id,),) for question in traced.questions)
    print(
        f"{len(sources):,} passages: {len(traced.questions):,} found by their text, {exact:,} in that chunk alone"
    )
    for question in traced.questions:
        (group,) = traced.gold[question.id].groups
        if group != (question.id,):
            print("  alike:", " = ".join(group))


if __name__ == "__main__":
    command.run(main)
