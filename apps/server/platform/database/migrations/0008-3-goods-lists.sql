-- What the desk lists by index: payments with goods that were not sent, and goods that were.
create index payment_unsent_goods on payment (succeeded_at, intent_id) where has_unsent_goods and status = 'succeeded';
create index payment_unsent_goods_by_session on payment (session_uuid) where has_unsent_goods and status = 'succeeded';
create index shipment_sent on shipment (shipped_at, id) where unshipped_at is null;
