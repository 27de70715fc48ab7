-- What HubSpot may still have of a person who was erased, since it was not told: ids alone, until it is.
create table left_at_hubspot (
  email_hash bytea not null,
  kind text not null check (kind in ('contact', 'file')),
  hubspot_id text not null,
  primary key (email_hash, kind, hubspot_id)
);

-- What Stripe is to forget of joins that retention has removed: it is told after the commit, and again until it was.
create table forget_at_stripe (
  stripe_id text primary key,
  kind text not null check (kind in ('intent', 'customer'))
);
-- Who was erased before: versions until then left the person in what Stripe notes with each charge.
insert into forget_at_stripe (stripe_id, kind)
  select intent_id, 'intent' from payment join join_session on session_uuid = join_session.uuid where erased_at is not null;
