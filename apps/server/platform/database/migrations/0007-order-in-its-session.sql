-- An order is a part of its session and changes together with it: one row, written once for each change, instead of three.
-- [{ number, productId, type, name, priceCents }], in the order in which they were added. A line's number is the revision
-- that added it; it is in the line's uuid (packages/core/orderLine.ts).
alter table join_session add lines jsonb not null default '[]' check (jsonb_typeof(lines) = 'array');
update join_session set lines = held.lines
from (
  select session_uuid, jsonb_agg(jsonb_build_object('number', number, 'productId', product_id, 'type', type, 'name', name, 'priceCents', price_cents) order by number) as lines
  from (select *, row_number() over (partition by session_uuid order by created_at, uuid) as number from session_product where removed_at is null) as numbered
  group by session_uuid
) as held
where held.session_uuid = uuid;
drop table session_product;

-- A personal code belongs to one contact, so its joins are counted by that.
drop index join_session_by_code;
drop index join_session_by_contact;
create index join_session_by_contact on join_session (contact_id, created_at) where contact_id is not null;

-- The key's check locked the contact's row, which wrote a page for each join. A session takes its contact from contact or
-- invitation in the statement that inserts it, and contacts are never deleted.
alter table join_session drop constraint join_session_contact_id_fkey;
