-- What version 7 of the schema added to schema.sql: questions that chunks answer. They are there on request alone.

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
