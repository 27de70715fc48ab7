-- What a write costs is mostly its indexes: each one is opened by every statement that writes to its table.

-- The state changes with each step and stood in the predicates of two indexes, so that each step wrote to every index of
-- its row. paying_since says the same and changes only when somebody pays; its index is as small as their number.
update join_session set paying_since = null where state <> 'paying' and paying_since is not null;
update join_session set paying_since = updated_at where state = 'paying' and paying_since is null;
alter table join_session add constraint join_session_paying_since check ((state = 'paying') = (paying_since is not null));
drop index join_session_one_paying;
drop index join_session_paying;
create unique index join_session_one_paying on join_session (contact_id) where paying_since is not null;
-- Room on its page for the next version of a row.
alter table join_session set (fillfactor = 70);

-- What an order has at most one of: a membership, each item, each amount of a typed donation.
alter table session_product add column slot text not null generated always as (
  case
    when type in ('membership', 'membership_upgrade') then 'membership'
    when type = 'donation_other' then 'donation of ' || price_cents
    else 'product ' || product_id
  end) stored;
drop index session_product_once;
drop index session_product_donation_once;
drop index session_product_one_membership;
drop index session_product_by_session;
create unique index session_product_once on session_product (session_uuid, slot) where removed_at is null;

-- What is looked up by them grows with the society: the memberships of a join, whatever became of them, and a contact's code.
create index membership_by_session on membership (session_uuid);
create index invitation_by_contact on invitation (contact_id) where contact_id is not null;
