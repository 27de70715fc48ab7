-- What the desk lists by index: what waits for staff, and joins by time.
create index staff_event_by_subject on staff_event (subject, at) where subject is not null;
create index staff_notice_by_session on staff_notice (session_uuid) where ended_at is null;
create index join_session_by_time on join_session (created_at);
create index join_session_paid on join_session (paid_at) where paid_at is not null;
create index crm_delivery_refused on crm_delivery (due_since) where refusal is not null;
create index document_refused on document (created_at) where crm_refusal is not null;
create index payment_by_card on payment (card_last4, amount_cents, created_at) where card_last4 is not null;
-- Orders with goods, or of which that is not known.
create index order_snapshot_goods on order_snapshot (session_uuid, kind, revision)
  where goods is null or jsonb_path_exists(goods, '$[*] ? (@ != null)');
