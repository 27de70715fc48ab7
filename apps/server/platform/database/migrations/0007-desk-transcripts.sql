-- What the desk lists by index: transcripts that were decided, by when.
create index document_decided on document (reviewed_at) where reviewed_at is not null and kind = 'transcript';
