-- What a lost dispute took of a payment is money that went back, of an amount and for some of its lines: a row beside the refunds.
-- A payment whose dispute was lost and that has no such row is from before, when all of it counted as lost.
alter table refund add is_dispute boolean not null default false;

-- The payment's own row tells of a dispute; only what staff say of it is told of this one.
create or replace function record_refund_step() returns trigger language plpgsql as $$
begin
  if new.is_dispute and (tg_op = 'INSERT' or new.status <> old.status) then
    return null;
  end if;
  perform record_event(
    (select session_uuid from payment where intent_id = new.intent_id),
    case when tg_op = 'INSERT' and new.reason <> 'dashboard' then 'refund_decided'
      when tg_op = 'UPDATE' and new.status = old.status then 'refund_assigned'
      else 'refund_' || new.status end,
    case when new.reason = 'dashboard' or tg_op = 'UPDATE' then 'stripe' else 'induct' end,
    jsonb_build_object('refund', new.uuid, 'intent', new.intent_id, 'cents', new.amount_cents, 'reason', new.reason, 'lines', new.lines));
  return null;
end $$;
