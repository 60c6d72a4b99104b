-- What version 9 of the schema added to counters.sql: the words of pages whose links are mentions of other titles
-- (documents without links, and records), so that nobody has to read their texts to see which may mention a title.

-- A page's words under a number that is never used twice. A page whose text changes gets another number; entries of
-- numbers that are gone stay in the index until there are too many of them (trivium.graph.embedded.words).
CREATE TABLE worded (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id INTEGER NOT NULL UNIQUE REFERENCES page (id) ON DELETE CASCADE
) STRICT;
-- The words come separated by spaces and in lower case; the tokenizer splits ASCII at what is no letter or digit.
CREATE VIRTUAL TABLE page_words USING fts5 (words, content = '', detail = none, columnsize = 0, tokenize = 'ascii');

-- Pages whose words are not in the index yet. The transaction that writes a page puts them there; they stay here only
-- where a program of an earlier version writes, which had the store open before the upgrade.
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
INSERT INTO wordless (page_id) SELECT id FROM page WHERE instr(content_hash, '.');
INSERT OR IGNORE INTO wordless (page_id) SELECT id FROM page WHERE source GLOB 'records:*';
