-- The mailing that an invitation belongs to.
alter table invitation add column campaign text;
