-- What version 6 of the schema added to schema.sql: what saves a small change from looking at all rows.

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

INSERT INTO waiting SELECT id FROM text WHERE id NOT IN (SELECT text_id FROM vector);
INSERT INTO waiting_sentences
SELECT DISTINCT text_id FROM chunk WHERE text_id NOT IN (SELECT text_id FROM sentences);

CREATE INDEX page_unlinked ON page (id) WHERE substr(content_hash, -1) = '.';
CREATE INDEX page_facts_path ON page_facts (path);
