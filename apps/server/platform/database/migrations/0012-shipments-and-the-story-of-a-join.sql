-- What was sent of a paid order: one row for each line that is goods. What is still to be sent is not written anywhere: it
-- follows from what was paid and what went back (packages/core/fulfilment.ts).
create table shipment (
  id bigint generated always as identity primary key,
  session_uuid uuid not null references join_session (uuid),
  intent_id text not null references payment (intent_id),
  -- The line's place in the paid order.
  line integer not null check (line >= 0),
  product_id integer not null,
  -- What was in the parcel, as it was called then.
  goods text not null,
  shipped_at timestamptz not null default now(),
  shipped_by text not null,
  -- A tracking number, or what else staff want to remember.
  note text,
  -- Taken back: it was not sent after all. The row stays.
  unshipped_at timestamptz,
  unshipped_by text,
  check ((unshipped_at is null) = (unshipped_by is null))
);
create unique index shipment_once on shipment (intent_id, line) where unshipped_at is null;
create index shipment_by_session on shipment (session_uuid);

-- Every step of a join with its time and its cause, written by triggers: docs/decisions/0021-the-story-of-a-join.md. No
-- reference to the session: its check would cost each step more than the step. Nothing here names or describes a person.
create table join_event (
  id bigint generated always as identity,
  session_uuid uuid not null,
  at timestamptz not null default now(),
  -- packages/core/story.ts has them all.
  step text not null,
  cause text not null,
  -- Of staff: who did it.
  actor text,
  detail jsonb
);
create index join_event_by_session on join_event (session_uuid);

-- `cause` holds when no member of staff says that it was they, as their connections do: set_config('induct.actor', …).
create function record_event(session_uuid uuid, step text, cause text, detail jsonb) returns void language plpgsql as $$
declare
  actor text := nullif(current_setting('induct.actor', true), '');
begin
  insert into join_event (session_uuid, step, cause, actor, detail)
  values (session_uuid, step, case when actor is null then cause else 'staff' end, actor, detail);
end $$;

create function record_session_step() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform record_event(new.uuid, 'started', 'joiner', jsonb_build_object('origin', new.origin, 'programme', new.programme));
    if new.revision > 0 then
      perform record_event(new.uuid, 'order_changed', 'joiner', jsonb_build_object('revision', new.revision, 'lines', new.lines));
    end if;
    return null;
  end if;
  if new.details is distinct from old.details then
    perform record_event(new.uuid, 'details_submitted', 'joiner', null);
  end if;
  if new.contact_id is distinct from old.contact_id then
    perform record_event(new.uuid, 'contact_linked', 'staff', jsonb_build_object('contact', new.contact_id));
  end if;
  if new.revision <> old.revision then
    perform record_event(new.uuid, 'order_changed', 'joiner', jsonb_build_object('revision', new.revision, 'lines', new.lines));
  end if;
  if new.state <> old.state then
    if new.state = 'paying' then
      perform record_event(new.uuid, 'payment_begun', 'joiner', jsonb_build_object('revision', new.revision));
    elsif new.state = 'paid' then
      perform record_event(new.uuid, 'paid', 'stripe', null);
    elsif old.state in ('paying', 'paid') then
      perform record_event(new.uuid, 'order_reopened', 'induct', jsonb_build_object('from', old.state));
    end if;
  end if;
  if new.upgrade <> old.upgrade then
    perform record_event(new.uuid, case new.upgrade when 'open' then 'upgrade_reopened' else 'upgrade_' || new.upgrade end,
      case new.upgrade when 'skipped' then 'joiner' when 'taken' then 'stripe' else 'induct' end, null);
  end if;
  return null;
end $$;
create trigger record_session_start after insert on join_session for each row execute function record_session_step();
create trigger record_session_step after update on join_session for each row
  when (new.state <> old.state or new.revision <> old.revision or new.upgrade <> old.upgrade or new.details is distinct from old.details
    or new.contact_id is distinct from old.contact_id)
  execute function record_session_step();

create function record_payment_step() returns trigger language plpgsql as $$
declare
  detail jsonb := jsonb_build_object('intent', new.intent_id, 'kind', new.kind, 'cents', new.amount_cents, 'revision', new.revision);
  -- A payment that we learn of when it is over has no time before.
  is_new boolean := tg_op = 'INSERT';
begin
  if is_new and new.status = 'open' then
    perform record_event(new.session_uuid, 'intent_opened', 'joiner', detail);
  elsif is_new or new.status <> old.status then
    perform record_event(new.session_uuid, 'intent_' || new.status, case new.status when 'canceled' then 'induct' else 'stripe' end, detail);
  elsif new.amount_cents <> old.amount_cents then
    perform record_event(new.session_uuid, 'intent_changed', 'joiner', detail);
  end if;
  if (is_new and new.dispute is not null) or (not is_new and new.dispute is distinct from old.dispute) then
    perform record_event(new.session_uuid, 'dispute_' || coalesce(new.dispute, 'over'), 'stripe', detail);
  end if;
  return null;
end $$;
create trigger record_payment_start after insert on payment for each row execute function record_payment_step();
create trigger record_payment_step after update on payment for each row
  when (new.status <> old.status or new.amount_cents <> old.amount_cents or new.dispute is distinct from old.dispute)
  execute function record_payment_step();

create function record_refund_step() returns trigger language plpgsql as $$
begin
  perform record_event(
    (select session_uuid from payment where intent_id = new.intent_id),
    case when tg_op = 'INSERT' and new.reason <> 'dashboard' then 'refund_decided'
      when tg_op = 'UPDATE' and new.status = old.status then 'refund_assigned'
      else 'refund_' || new.status end,
    case when new.reason = 'dashboard' or tg_op = 'UPDATE' then 'stripe' else 'induct' end,
    jsonb_build_object('refund', new.uuid, 'intent', new.intent_id, 'cents', new.amount_cents, 'reason', new.reason, 'lines', new.lines));
  return null;
end $$;
create trigger record_refund_start after insert on refund for each row execute function record_refund_step();
create trigger record_refund_step after update on refund for each row
  when (new.status <> old.status or new.assigned_at is distinct from old.assigned_at) execute function record_refund_step();

create function record_membership_step() returns trigger language plpgsql as $$
begin
  perform record_event(new.session_uuid, 'membership_' || new.standing, 'stripe',
    jsonb_build_object('intent', new.payment_intent, 'productId', new.product_id, 'type', new.type));
  return null;
end $$;
create trigger record_membership_start after insert on membership for each row execute function record_membership_step();
create trigger record_membership_step after update on membership for each row when (new.standing <> old.standing)
  execute function record_membership_step();

create function record_document_step() returns trigger language plpgsql as $$
begin
  perform record_event(new.session_uuid, case when tg_op = 'INSERT' then 'document_uploaded' else 'document_' || new.review end,
    'joiner', jsonb_build_object('document', new.id, 'kind', new.kind, 'bytes', new.size_bytes, 'reason', new.reason, 'isFinal', new.is_final));
  return null;
end $$;
create trigger record_document_start after insert on document for each row when (new.session_uuid is not null)
  execute function record_document_step();
create trigger record_document_step after update on document for each row
  when (new.session_uuid is not null and (new.review <> old.review or new.is_final <> old.is_final))
  execute function record_document_step();

create function record_shipment_step() returns trigger language plpgsql as $$
begin
  perform record_event(new.session_uuid, case when new.unshipped_at is null then 'shipped' else 'unshipped' end, 'staff',
    jsonb_build_object('intent', new.intent_id, 'line', new.line, 'productId', new.product_id, 'goods', new.goods));
  return null;
end $$;
create trigger record_shipment_step after insert or update on shipment for each row execute function record_shipment_step();

-- Who somebody is, as words to be found by: names and email addresses.
create function person_words(person jsonb) returns tsvector language sql immutable parallel safe as $$
  select to_tsvector('simple'::regconfig, coalesce(person ->> 'firstName', '') || ' ' || coalesce(person ->> 'lastName', '') || ' '
    || coalesce(person ->> 'personalEmail', '') || ' ' || coalesce(person ->> 'schoolEmail', '') || ' ' || coalesce(person ->> 'email', ''))
$$;
create index join_session_by_person on join_session using gin (person_words(details)) where details is not null;
create index contact_by_person on contact using gin (person_words(profile));
create index payment_by_receipt_email on payment (lower(receipt_email)) where receipt_email is not null;
-- A personal code leads to its contact; only a school's joins have nothing else to be found by.
create index join_session_by_school_code on join_session (invitation_code, created_at) where school is not null;
