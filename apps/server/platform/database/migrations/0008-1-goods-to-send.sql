-- Whether a payment has goods that were not sent: what is to be sent, what is held, and what is not to be sent any more. By triggers,
-- so that what servers of the version before write counts, too.
alter table payment add column has_unsent_goods boolean not null default false;

-- Of a snapshot whose goods are not known each line counts: the society's file decides.
create function has_unsent_goods_of(paid payment) returns boolean language sql stable as $$
  select exists (
    select from order_snapshot ordered, jsonb_array_elements(ordered.items) with ordinality as item (value, position)
    where ordered.session_uuid = paid.session_uuid and ordered.kind = paid.kind and ordered.revision = paid.revision
      and (ordered.goods is null or ordered.goods ->> (position - 1)::int is not null)
      and not exists (select from shipment
        where shipment.intent_id = paid.intent_id and shipment.line = position - 1 and shipment.unshipped_at is null))
$$;

create function note_paid_goods() returns trigger language plpgsql as $$
begin
  new.has_unsent_goods = has_unsent_goods_of(new);
  return new;
end 
$$;
create trigger note_goods_of_new before insert on payment for each row when (new.status = 'succeeded') execute function note_paid_goods();
create trigger note_paid_goods before update on payment for each row
  when (new.status = 'succeeded' and (old.status <> 'succeeded' or new.revision <> old.revision)) execute function note_paid_goods();

create function note_sent_goods() returns trigger language plpgsql as $$
begin
  update payment set has_unsent_goods = has_unsent_goods_of(payment) where intent_id = new.intent_id and status = 'succeeded';
  return null;
end 
$$;
create trigger note_sent_goods after insert or update of unshipped_at on shipment for each row execute function note_sent_goods();
