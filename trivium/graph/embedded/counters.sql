-- What version 8 of the schema added to schema.sql: numbers of nodes and relationships, so that nobody has to read their
-- rows, and indexes for what a change or a listing looks for.

-- How many there are of what trivium.graph.embedded.counters lists. They change in the transactions that change the rows.
CREATE TABLE counter (
    name   TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter (name, number) VALUES ('questions', 0), ('answers', 0);

-- Questions and answers also go with others' rows. They are few, so that a trigger for each row costs little.
CREATE TRIGGER question_counted AFTER INSERT ON question BEGIN
    UPDATE counter SET number = number + 1 WHERE name = 'questions';
END;
CREATE TRIGGER question_discounted AFTER DELETE ON question BEGIN
    UPDATE counter SET number = number - 1 WHERE name = 'questions';
END;
CREATE TRIGGER answer_counted AFTER INSERT ON answer BEGIN
    UPDATE counter SET number = number + 1 WHERE name = 'answers';
END;
CREATE TRIGGER answer_discounted AFTER DELETE ON answer BEGIN
    UPDATE counter SET number = number - 1 WHERE name = 'answers';
END;

-- Pages in the order of their uris. Most rows of name are no pages.
CREATE TABLE page_uri (
    uri     TEXT PRIMARY KEY,
    page_id INTEGER NOT NULL UNIQUE REFERENCES page (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TRIGGER page_listed AFTER INSERT ON page BEGIN
    INSERT INTO page_uri (uri, page_id) SELECT uri, id FROM name WHERE id = NEW.id;
END;
INSERT INTO page_uri (uri, page_id) SELECT n.uri, p.id FROM page AS p CROSS JOIN name AS n ON n.id = p.id;

-- Pages by where they come from: by the beginning of the source, and by the name of the file, which is what follows the
-- last slash that is not at the end.
CREATE INDEX page_source ON page (source);
CREATE INDEX page_file ON page (
    substr(rtrim(source, '/'), 1 + length(rtrim(rtrim(source, '/'), replace(source, '/', ''))))
);
-- Pages whose links are mentions of other titles.
CREATE INDEX page_mentions ON page (id) WHERE instr(content_hash, '.');

-- To see whether another page states the same relation.
DROP INDEX relation_source;
CREATE INDEX relation_stated ON relation (source_id, type_id, target_id);
