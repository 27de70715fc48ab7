-- A refund that Stripe does not make for now is asked for again later, under another idempotency key: Stripe keeps an error
-- under its key like any other answer.
alter table refund
  add attempts integer not null default 0,
  add next_try_at timestamptz not null default now() + interval '2 minutes',
  -- Why Stripe did not make it, the last time that it was asked.
  add refusal text,
  -- When staff said what a refund from outside was for. Until then its lines are what its amount says, or null.
  add assigned_at timestamptz;
create index refund_by_next_try on refund (next_try_at) where status = 'due';

-- What ended a membership by the amount alone stays what ended it.
update refund set assigned_at = now(), lines = jsonb_build_array(jsonb_build_object(
  'line', bought.number - 1, 'productId', bought.line -> 'productId', 'name', bought.line -> 'name', 'cents', refund.amount_cents))
from payment
join order_snapshot using (session_uuid, kind, revision)
cross join lateral jsonb_array_elements(items) with ordinality as bought (line, number)
where payment.intent_id = refund.intent_id and bought.line ->> 'type' in ('membership', 'membership_upgrade')
  and refund.reason = 'dashboard' and refund.lines is null and refund.status not in ('failed', 'canceled')
  and exists (select from membership where payment_intent = refund.intent_id and standing = 'refunded')
  -- One that we made ended it ourselves.
  and not exists (select from refund ours where ours.intent_id = refund.intent_id and ours.status not in ('failed', 'canceled')
    and ours.lines @> jsonb_build_array(jsonb_build_object('line', bought.number - 1)));

-- Stripe's events that could not be acted on, or are looked at only later, with all that is needed to act on them.
create table event_retry (
  id text primary key,
  event jsonb not null,
  attempts integer not null default 0,
  next_try_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index event_retry_by_next_try on event_retry (next_try_at);
