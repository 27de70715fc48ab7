-- What the desk lists by index: payments by card, and orders with goods, or of which that is not known.
create index payment_by_card on payment (card_last4, amount_cents, created_at) where card_last4 is not null;
create index order_snapshot_goods on order_snapshot (session_uuid, kind, revision)
  where goods is null or jsonb_path_exists(goods, '$[*] ? (@ != null)');
