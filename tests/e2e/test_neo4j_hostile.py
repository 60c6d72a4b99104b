"""Two hundred strings that would like to be a query: as titles, texts, relation names and questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import GraphDatabase

from tests.contract.graphs import embed_pending, graph, unit
from tests.neo4j_servers import Server, log_in
from tests.neo4j_wipe import wipe
from trivium.errors import StoreError
from trivium.graph.neo4j import Neo4jStore
from trivium.graph.page_graph import PageGraph
from trivium.graph.schema import Hop, Label
from trivium.retrievers.query import Query
from trivium.retrievers.registry import make_retrievers
from trivium.search.candidates import gather

CYPHER = [
    "' DETACH DELETE n //",
    "'}) MATCH (n) DETACH DELETE n //",
    '"}) MATCH (n) DETACH DELETE n RETURN ("',
    "`) DETACH DELETE n //",
    "``]->() DELETE r //",
    "$uri",
    "{uri: $uri}",
    "x' RETURN 1 UNION MATCH (n) SET n.text = 'owned' RETURN 1 //",
    "\\' OR 1=1 //",
    "\\u0027 OR 1=1 //",
    "'; DROP CONSTRAINT entity_uri; //",
    "CALL { MATCH (n) DETACH DELETE n }",
    "CYPHER 5 MATCH (n) DELETE n",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "CALL dbms.listConfig()",
    "/* */ MATCH (n) DELETE n /* */",
    "n:Page SET n:Owned",
    "[:semantic_rel]->(n) DELETE n",
    "%s %d {0} {uri} ${jndi:ldap://127.0.0.1/a}",
    "'''\"\"\"```",
]
LUCENE = [
    "text:*",
    "*:*",
    "/.*/",
    "/[a-z]{100000}/",
    "a~2",
    "a~",
    '"open quote',
    "a AND",
    "AND OR NOT",
    "NOT a",
    "+a -b !c",
    "(((((",
    ")))))",
    "[a TO b]",
    "{a TO b}",
    "[* TO *]",
    "a^1000",
    "a^",
    "\\",
    "a\\",
    "a && b || c",
    "?*?*?*?*",
    "_exists_:uri",
    "search_terms:red",
    "<script>alert(1)</script>",
]
CONTROL = [f"control {chr(code)} character" for code in [*range(0x00, 0x20), *range(0x7F, 0xA0)]]
UNICODE = [
    "\u202egnitirw tfel-ot-thgir",
    "zero\u200bwidth",
    "joiner\u200dhere",
    "\ufeffbyte order mark",
    "line\u2028separator",
    "paragraph\u2029separator",
    "e\u0301 and é",
    "ﬁ ligature",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "👩‍👩‍👧‍👦",
    "\U0010ffff last",
    "\ufffe noncharacter",
    "İi̇ıI",
    "ß SS ẞ",
    "＇ fullwidth quote ＂",
    "‘curly’ “quotes”",
    "\u0000",
    "Z\u0335\u0327a\u0321l\u0322g\u0336o",
    "١٢٣",
    "北京市",
]
ODD = [
    "",
    " ",
    "#",
    "##",
    "%23",
    "a#chunk-1",
    "#chunk-1",
    "null",
    "NULL",
    "true",
    "NaN",
    "-0",
    "1e309",
    "0x1F",
    "9" * 400,
    ".",
    "..",
    "../../etc/passwd",
    "C:\\Windows",
    "a" * 3000,
    "月" * 1300,
    "a\x1fb",
    "a;b",
    "a,b",
    "a|b",
    "a\tb",
    "a\r\nb",
    "uri",
    "Trivium",
    "Entity",
    ":Page",
    "text_hash",
    "semantic_rel",
    "__proto__",
    "is_of_of",
]
HOSTILE = list(dict.fromkeys([*CYPHER, *LUCENE, *CONTROL, *UNICODE, *ODD]))
HOSTILE += [f"{one} {other}" for one, other in zip(CYPHER, LUCENE, strict=False)]
HOSTILE += [f"{one}'\"`{other}" for one, other in zip(LUCENE, UNICODE, strict=False)]


def test_there_are_two_hundred_of_them() -> None:
    assert len(set(HOSTILE)) >= 200


@pytest.fixture
def store(neo4j_2026: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Neo4jStore]:
    """A store with one page that nothing may touch."""
    log_in(monkeypatch, neo4j_2026)
    wipe(neo4j_2026)
    with Neo4jStore.create(neo4j_2026.bolt) as opened:
        opened.write([graph("Sentinel", [("it stands", ["Sun"])], relations=[("guards", "Sun")])])
        yield opened


def hostile_page(number: int, text: str) -> PageGraph:
    """The string as title, section, text, link, alias, relation type and target."""
    return graph(
        text,
        [(f"says {text}", [f"to {text}"])],
        {f"under {text.replace('#', '')}": [(text, [text])]},
        aliases=[f"alias {number} {text}"],
        relations=[(text, f"target {text}")],
    )


def test_stored_they_come_back_as_they_were(store: Neo4jStore, neo4j_2026: Server) -> None:
    """Whole, in every role; or refused with an error of ours and not stored at all."""
    given = [hostile_page(number, text) for number, text in enumerate(HOSTILE)]
    stored = {page.uri: page for page in given}
    store.write([page for page in stored.values() if len(page.uri) <= 1000])
    for page in [page for page in stored.values() if len(page.uri) > 1000]:
        try:
            store.write([page])
        except StoreError as error:
            assert "bytes" in str(error)  # longer than an index takes
            del stored[page.uri]
    assert len(stored) >= 200
    embed_pending(store)
    back = {page.uri: page for page in store.page_graphs() if page.uri != "Sentinel"}
    assert back.keys() == stored.keys()
    for uri, page in stored.items():
        assert back[uri].text == page.text
        assert back[uri].sections == page.sections
        assert back[uri].chunks == page.chunks
        assert back[uri].aliases == page.aliases
        assert back[uri].relations == page.relations
    assert untouched(neo4j_2026)


def test_asked_they_are_only_questions(store: Neo4jStore, neo4j_2026: Server) -> None:
    """All eight retrievers, names, terms and titles; the graph is what it was."""
    store.write([graph("Mars", [("red planet", ["Sun"]), ("and OR not", [])])])
    embed_pending(store)
    store.refresh()
    before, retrievers = store.info(), make_retrievers()
    for text in dict.fromkeys([*CYPHER, *LUCENE, *CONTROL[::20], *UNICODE[::4], *ODD[::4]]):
        if text.strip():
            gather(Query(text=text, vector=unit(text), store=store), retrievers)
    for text in HOSTILE:
        store.keyword_search([text, f"{text} red", *text.split()], 10)
    store.lookup_names(HOSTILE)
    store.resolve(HOSTILE)
    store.relation_vectors(HOSTILE)
    store.vectors(Label.ENTITY, HOSTILE)
    store.expand(HOSTILE, Hop.CITED_IN)
    store.term_statistics(HOSTILE)
    assert store.info() == before
    assert untouched(neo4j_2026)


def untouched(server: Server) -> bool:
    """Whether the sentinel stands, nothing was given a label of an attacker's choice, and no schema is lost."""
    with GraphDatabase.driver(server.bolt, auth=server.auth) as driver:
        query = "MATCH (p:Page {uri: 'Sentinel'})-[:has_chunk]->(c)-[:cites]->(e {uri: 'Sun'}) RETURN c.text"
        texts = [row[0] for row in driver.execute_query(query, database_="neo4j").records]
        labels = {row[0] for row in driver.execute_query("CALL db.labels()", database_="neo4j").records}
        names = [row[0] for row in driver.execute_query("SHOW CONSTRAINTS YIELD name RETURN name").records]
    return texts == ["it stands"] and "Owned" not in labels and len(names) >= 7
