"""A benchmark of questions of several hops, made from a store: drawn, written, judged, reviewed, exported."""
