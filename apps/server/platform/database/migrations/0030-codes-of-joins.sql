-- A code may lead to another contact later, so joins are found by their own codes. Before, a join by a personal code was found
-- by the contact of the code.
create index if not exists join_session_by_code on join_session (invitation_code) where invitation_code is not null;
drop index join_session_by_school_code;
