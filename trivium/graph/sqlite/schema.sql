-- The truth of an embedded store. Everything under index/ follows from it.
--
-- Rows are known by integers that are never used twice (AUTOINCREMENT), so that a derived index can tell what
-- is new (a higher number) from what is gone. A row of chunk, section or vector never changes once written.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row a writing transaction. The token tells two histories apart that count alike (a restored backup).
CREATE TABLE generation (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    token  TEXT NOT NULL
) STRICT;
INSERT INTO generation (token) VALUES (lower(hex(randomblob(8))));

-- The distinct texts that are embedded, by hash: of chunks, sections, entities and relation types.
CREATE TABLE text (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE vector (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    text_id INTEGER NOT NULL UNIQUE REFERENCES text (id) ON DELETE CASCADE,
    data    BLOB NOT NULL
) STRICT;

-- Vectors of the sentences of a chunk's text, one after another, a byte a number; empty where there is no more than
-- one sentence.
CREATE TABLE sentences (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE,
    data    BLOB NOT NULL
) STRICT;

-- Every title in play: of pages, of aliases, and those that citations and relations name. One that is the
-- alias of a page and not a page itself leads to that page; all others stand for themselves and are the
-- entities (leads_to is NULL exactly for them, and only they have a text).
CREATE TABLE name (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    uri      TEXT NOT NULL UNIQUE,
    leads_to INTEGER REFERENCES name (id),
    text_id  INTEGER REFERENCES text (id)
) STRICT;
CREATE INDEX name_leads_to ON name (leads_to) WHERE leads_to IS NOT NULL;
CREATE INDEX name_text ON name (text_id) WHERE text_id IS NOT NULL;

-- What kind of thing an entity is; it is part of the entity's text. Only entities have one.
CREATE TABLE entity_type (
    name_id INTEGER PRIMARY KEY REFERENCES name (id) ON DELETE CASCADE,
    type    TEXT NOT NULL
) STRICT;

-- Normalised forms of titles, for finding them in a question.
CREATE TABLE lookup (
    form      TEXT NOT NULL,
    name_id   INTEGER NOT NULL REFERENCES name (id) ON DELETE CASCADE,
    shortened INTEGER NOT NULL,
    PRIMARY KEY (form, name_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lookup_name ON lookup (name_id);

CREATE TABLE page (
    id           INTEGER PRIMARY KEY REFERENCES name (id),
    source       TEXT NOT NULL,
    revision     INTEGER,
    content_hash TEXT NOT NULL,
    text         TEXT NOT NULL
) STRICT;

-- What pages know of themselves beside their text, and when they were first loaded: times are ISO 8601 in UTC, metadata
-- a JSON object. 
CREATE TABLE page_facts (
    page_id  INTEGER PRIMARY KEY REFERENCES page (id) ON DELETE CASCADE,
    format   TEXT NOT NULL,
    path     TEXT NOT NULL,
    modified TEXT,
    added    TEXT NOT NULL,
    metadata TEXT NOT NULL
) STRICT;

-- What pages claim; which claim holds is in name.leads_to.
CREATE TABLE alias (
    name_id INTEGER NOT NULL REFERENCES name (id),
    page_id INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    PRIMARY KEY (name_id, page_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_page ON alias (page_id);

CREATE TABLE section (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uri       TEXT NOT NULL UNIQUE,
    page_id   INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    parent_id INTEGER REFERENCES section (id) ON DELETE CASCADE,
    level     INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    text_id   INTEGER NOT NULL REFERENCES text (id)
) STRICT;
CREATE INDEX section_page ON section (page_id);
CREATE INDEX section_parent ON section (parent_id);
CREATE INDEX section_text ON section (text_id);

-- section_id is NULL for the chunks above the first heading. start_char and end_char count characters of
-- page.text; terms and heading_terms are search terms joined by spaces, *_count how many they are.
CREATE TABLE chunk (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    uri           TEXT NOT NULL UNIQUE,
    page_id       INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    section_id    INTEGER REFERENCES section (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    text_id       INTEGER NOT NULL REFERENCES text (id),
    kind          TEXT NOT NULL,
    start_char    INTEGER NOT NULL,
    end_char      INTEGER NOT NULL,
    token_count   INTEGER NOT NULL,
    term_count    INTEGER NOT NULL,
    heading_count INTEGER NOT NULL,
    heading_terms TEXT NOT NULL,
    terms         TEXT NOT NULL,
    text          TEXT NOT NULL
) STRICT;
CREATE INDEX chunk_page ON chunk (page_id, position);
CREATE INDEX chunk_section ON chunk (section_id);
CREATE INDEX chunk_text ON chunk (text_id);

-- The pages of a paginated document that a chunk stands on; other chunks have no row.
CREATE TABLE chunk_pages (
    chunk_id   INTEGER PRIMARY KEY REFERENCES chunk (id) ON DELETE CASCADE,
    first_page INTEGER NOT NULL,
    last_page  INTEGER NOT NULL
) STRICT;

-- Small copies of the pictures that chunks stand for (WebP); other chunks have no row. Apart from the chunks, so that
-- reading their texts does not read pictures.
CREATE TABLE thumbnail (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunk (id) ON DELETE CASCADE,
    data     BLOB NOT NULL
) STRICT;

-- The titles a chunk links to, as they stand in it.
CREATE TABLE citation (
    chunk_id INTEGER NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
    ordinal  INTEGER NOT NULL,
    name_id  INTEGER NOT NULL REFERENCES name (id),
    PRIMARY KEY (chunk_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX citation_name ON citation (name_id, chunk_id);

-- By which anchors links mean a section, each of one section of its page; and which of its citations mean one by an
-- anchor, in order of appearance. Whether there is such a section is seen when it is asked for: pages come and go.
CREATE TABLE section_anchor (
    section_id INTEGER NOT NULL REFERENCES section (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    anchor     TEXT NOT NULL,
    PRIMARY KEY (section_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE citation_anchor (
    chunk_id INTEGER NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
    ordinal  INTEGER NOT NULL,
    citation INTEGER NOT NULL,
    anchor   TEXT NOT NULL,
    PRIMARY KEY (chunk_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE relation_type (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    type    TEXT NOT NULL UNIQUE,
    text_id INTEGER NOT NULL REFERENCES text (id)
) STRICT;
CREATE INDEX relation_type_text ON relation_type (text_id);

-- Relations by the page that bears witness to them: its own, and those added to it.
CREATE TABLE relation (
    page_id   INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    source_id INTEGER NOT NULL REFERENCES name (id),
    type_id   INTEGER NOT NULL REFERENCES relation_type (id),
    target_id INTEGER NOT NULL REFERENCES name (id),
    PRIMARY KEY (page_id, source_id, type_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX relation_target ON relation (target_id);
CREATE INDEX relation_of_type ON relation (type_id);

-- Checksums of what is stored nowhere twice: of a page with its sections, chunks and citations, and of the data of
-- vector and sentences.
CREATE TABLE page_sum (
    page_id INTEGER PRIMARY KEY REFERENCES page (id) ON DELETE CASCADE,
    digest  TEXT NOT NULL
) STRICT;
CREATE TABLE vector_sum (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE,
    crc     INTEGER NOT NULL
) STRICT;
CREATE TABLE sentences_sum (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE,
    crc     INTEGER NOT NULL
) STRICT;

-- Vectors of those pictures, with their checksums.
CREATE TABLE picture_vector (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunk (id) ON DELETE CASCADE,
    data     BLOB NOT NULL,
    crc      INTEGER NOT NULL
) STRICT;

-- The relationships of the graph, by the names of trivium.graph.schema.RelationshipType. The outer joins only
-- put uris to numbers; SQLite leaves them out when the uris are not asked for.

CREATE VIEW ancestor (section_id, above_id) AS
WITH RECURSIVE climb (section_id, above_id) AS (
    SELECT id, parent_id FROM section WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT c.section_id, s.parent_id FROM climb c JOIN section s ON s.id = c.above_id
    WHERE s.parent_id IS NOT NULL
)
SELECT section_id, above_id FROM climb;

CREATE VIEW has_subchapter (source, target) AS
SELECT coalesce(p.uri, n.uri), s.uri
FROM section s LEFT JOIN section p ON p.id = s.parent_id LEFT JOIN name n ON n.id = s.page_id;

CREATE VIEW is_subchapter_of (source, target) AS
SELECT s.uri, n.uri FROM section s LEFT JOIN name n ON n.id = s.page_id
UNION ALL
SELECT s.uri, p.uri
FROM ancestor a LEFT JOIN section s ON s.id = a.section_id LEFT JOIN section p ON p.id = a.above_id;

CREATE VIEW has_chunk (source, target) AS
SELECT coalesce(s.uri, n.uri), c.uri
FROM chunk c LEFT JOIN section s ON s.id = c.section_id LEFT JOIN name n ON n.id = c.page_id;

CREATE VIEW is_chunk_of (source, target) AS
SELECT c.uri, n.uri FROM chunk c LEFT JOIN name n ON n.id = c.page_id
UNION ALL
SELECT c.uri, s.uri FROM chunk c LEFT JOIN section s ON s.id = c.section_id WHERE c.section_id IS NOT NULL
UNION ALL
SELECT c.uri, s.uri
FROM chunk c JOIN ancestor a ON a.section_id = c.section_id LEFT JOIN section s ON s.id = a.above_id;

CREATE VIEW next (source, target) AS
SELECT uri, following FROM (
    SELECT uri, lead(uri) OVER (PARTITION BY page_id, section_id ORDER BY position) AS following FROM chunk
) WHERE following IS NOT NULL;

CREATE VIEW previous (source, target) AS SELECT target, source FROM next;

CREATE VIEW cites (source, target) AS
SELECT c.uri, e.uri
FROM (
    SELECT DISTINCT t.chunk_id, coalesce(n.leads_to, n.id) AS entity_id
    FROM citation t JOIN name n ON n.id = t.name_id
) AS pair
LEFT JOIN chunk c ON c.id = pair.chunk_id LEFT JOIN name e ON e.id = pair.entity_id;

CREATE VIEW cited_in (source, target) AS SELECT target, source FROM cites;

-- Relations as they stand, without their mirrors.
CREATE VIEW stated_relation (source_id, type_id, target_id) AS
SELECT DISTINCT coalesce(s.leads_to, s.id), r.type_id, coalesce(t.leads_to, t.id)
FROM relation r JOIN name s ON s.id = r.source_id JOIN name t ON t.id = r.target_id;

CREATE VIEW semantic_rel (source, type, target) AS
SELECT s.uri, k.type, t.uri
FROM stated_relation r LEFT JOIN name s ON s.id = r.source_id LEFT JOIN name t ON t.id = r.target_id
LEFT JOIN relation_type k ON k.id = r.type_id
UNION ALL
SELECT t.uri, 'is_' || k.type || '_of', s.uri
FROM stated_relation r LEFT JOIN name s ON s.id = r.source_id LEFT JOIN name t ON t.id = r.target_id
LEFT JOIN relation_type k ON k.id = r.type_id;

-- Questions that chunks answer. They are there on request alone.

-- Answers are a JSON list of texts; crc is the checksum of the rest, which is stored nowhere twice.
CREATE TABLE question (
    id      INTEGER PRIMARY KEY,
    uri     TEXT NOT NULL UNIQUE,
    text    TEXT NOT NULL,
    answers TEXT NOT NULL,
    crc     INTEGER NOT NULL
) STRICT;

CREATE TABLE answer (
    question_id INTEGER NOT NULL REFERENCES question (id) ON DELETE CASCADE,
    chunk_id    INTEGER NOT NULL REFERENCES chunk (id) ON DELETE CASCADE,
    PRIMARY KEY (question_id, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_chunk ON answer (chunk_id);

-- A question goes with the last chunk that answers it.
CREATE TRIGGER answer_went AFTER DELETE ON answer BEGIN
    DELETE FROM question WHERE id = OLD.question_id
    AND NOT EXISTS (SELECT 1 FROM answer WHERE question_id = OLD.question_id);
END;

CREATE VIEW is_answer_of (source, target) AS
SELECT c.uri, q.uri
FROM answer a LEFT JOIN chunk c ON c.id = a.chunk_id LEFT JOIN question q ON q.id = a.question_id;

-- What saves a small change from looking at all rows.

-- Which rows of earlier states went or became others, so that indexes of such a state can be brought up to date without
-- looking at all rows. New rows of chunk, section, name and vector are not listed: their numbers are higher than all
-- before. ``number`` is that of the state before the change. Names that have just been made and find their place, as
-- entity or alias, have changed nothing.
CREATE TABLE change (
    number INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    id     INTEGER NOT NULL,
    PRIMARY KEY (number, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER chunk_went AFTER DELETE ON chunk BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'chunk', OLD.id);
END;
CREATE TRIGGER section_went AFTER DELETE ON section BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'section', OLD.id);
END;
CREATE TRIGGER page_came AFTER INSERT ON page BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'page', NEW.id);
END;
CREATE TRIGGER page_went AFTER DELETE ON page BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'page', OLD.id);
END;
CREATE TRIGGER name_changed AFTER UPDATE OF leads_to, text_id ON name
WHEN (OLD.leads_to IS NOT NULL OR OLD.text_id IS NOT NULL)
    AND (OLD.leads_to IS NOT NEW.leads_to OR OLD.text_id IS NOT NEW.text_id)
BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'name', NEW.id);
END;
CREATE TRIGGER name_went AFTER DELETE ON name BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'name', OLD.id);
END;
-- By text, here and below.
CREATE TRIGGER vector_went AFTER DELETE ON vector BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'vector', OLD.text_id);
END;
CREATE TRIGGER sentences_came AFTER INSERT ON sentences BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'sentences', NEW.text_id);
END;
CREATE TRIGGER sentences_went AFTER DELETE ON sentences BEGIN
    INSERT OR IGNORE INTO change VALUES ((SELECT max(number) FROM generation), 'sentences', OLD.text_id);
END;

-- From which state on all changes are listed.
INSERT INTO meta (key, value) SELECT 'changes_since', CAST(max(number) AS TEXT) FROM generation;

-- Texts that have no vector yet, and those of chunks that have no vectors of sentences.
CREATE TABLE waiting (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE
) STRICT;
CREATE TABLE waiting_sentences (
    text_id INTEGER PRIMARY KEY REFERENCES text (id) ON DELETE CASCADE
) STRICT;

CREATE TRIGGER text_waits AFTER INSERT ON text BEGIN
    INSERT OR IGNORE INTO waiting VALUES (NEW.id);
END;
CREATE TRIGGER text_has_vector AFTER INSERT ON vector BEGIN
    DELETE FROM waiting WHERE text_id = NEW.text_id;
END;
CREATE TRIGGER text_waits_again AFTER DELETE ON vector BEGIN
    INSERT OR IGNORE INTO waiting SELECT id FROM text WHERE id = OLD.text_id;
END;
CREATE TRIGGER passage_waits AFTER INSERT ON chunk BEGIN
    INSERT OR IGNORE INTO waiting_sentences
    SELECT NEW.text_id WHERE NOT EXISTS (SELECT 1 FROM sentences WHERE text_id = NEW.text_id);
END;
CREATE TRIGGER passage_has_sentences AFTER INSERT ON sentences BEGIN
    DELETE FROM waiting_sentences WHERE text_id = NEW.text_id;
END;
CREATE TRIGGER passage_waits_again AFTER DELETE ON sentences BEGIN
    INSERT OR IGNORE INTO waiting_sentences SELECT id FROM text WHERE id = OLD.text_id;
END;

CREATE INDEX page_unlinked ON page (id) WHERE substr(content_hash, -1) = '.';
CREATE INDEX page_facts_path ON page_facts (path);

-- For what a change or a listing looks for.

-- Pages in the order of their uris. Most rows of name are no pages.
CREATE TABLE page_uri (
    uri     TEXT PRIMARY KEY,
    page_id INTEGER NOT NULL UNIQUE REFERENCES page (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TRIGGER page_listed AFTER INSERT ON page BEGIN
    INSERT INTO page_uri (uri, page_id) SELECT uri, id FROM name WHERE id = NEW.id;
END;

-- Pages by where they come from: by the beginning of the source, and by the name of the file, which is what follows the
-- last slash that is not at the end.
CREATE INDEX page_source ON page (source);
CREATE INDEX page_file ON page (
    substr(rtrim(source, '/'), 1 + length(rtrim(rtrim(source, '/'), replace(source, '/', ''))))
);
-- Pages whose links are mentions of other titles.
CREATE INDEX page_mentions ON page (id) WHERE instr(content_hash, '.');

-- To see whether another page states the same relation.
CREATE INDEX relation_stated ON relation (source_id, type_id, target_id);

-- The words of pages whose links are mentions of other titles
-- (documents without links, and records), so that nobody has to read their texts to see which may mention a title.

-- A page's words under a number that is never used twice. A page whose text changes gets another number; entries of
-- numbers that are gone stay in the index until there are too many of them (trivium.graph.sqlite.words).
CREATE TABLE worded (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id INTEGER NOT NULL UNIQUE REFERENCES page (id) ON DELETE CASCADE
) STRICT;
-- The words come separated by spaces and in lower case; the tokenizer splits ASCII at what is no letter or digit.
CREATE VIRTUAL TABLE page_words USING fts5 (words, content = '', detail = none, columnsize = 0, tokenize = 'ascii');

-- Pages whose words are not in the index yet: the transaction that writes a page puts them there at its end.
CREATE TABLE wordless (
    page_id INTEGER PRIMARY KEY REFERENCES page (id) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER page_without_words AFTER INSERT ON page
WHEN instr(NEW.content_hash, '.') OR NEW.source GLOB 'records:*' BEGIN
    INSERT INTO wordless (page_id) VALUES (NEW.id);
END;
CREATE TRIGGER page_with_other_words AFTER UPDATE OF source, content_hash, text ON page
WHEN NEW.text IS NOT OLD.text OR NOT EXISTS (SELECT 1 FROM worded WHERE page_id = NEW.id) BEGIN
    DELETE FROM worded WHERE page_id = NEW.id;
    INSERT OR IGNORE INTO wordless (page_id)
    SELECT NEW.id WHERE instr(NEW.content_hash, '.') OR NEW.source GLOB 'records:*';
END;
