-- What the desk lists by index: joins by time, what staff did about somebody, and notices of a join.
create index join_session_by_time on join_session (created_at);
create index join_session_paid on join_session (paid_at) where paid_at is not null;
create index staff_event_by_subject on staff_event (subject, at) where subject is not null;
create index staff_notice_by_session on staff_notice (session_uuid) where ended_at is null;
