-- A contact that HubSpot had and has no more: nothing of it is kept, and joins of it are told to a contact of their own.
alter table contact add deleted_at timestamptz;
-- The contact that this one was merged into in HubSpot: all that was of this one is of that one.
alter table contact add merged_into text references contact (id);
-- Few: whether a join's contact is among them is asked of every join that HubSpot is to be told of.
create index contact_deleted on contact (id) where deleted_at is not null;
