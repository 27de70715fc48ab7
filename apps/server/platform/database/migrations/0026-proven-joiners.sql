-- When somebody first proved to be the joiner, by the link in a letter (apps/server/pass/). From then on the session's uuid opens
-- nothing of the person: a browser has to have proven that, too, or to have paid.
alter table join_session add column proven_at timestamptz;
