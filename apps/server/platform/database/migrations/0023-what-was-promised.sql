-- What an order was sold with beside its lines, whatever the society's file says later: what each line sends by post (a text or
-- null for each of `items`), and what is kept of the membership when its payer is not eligible. Null where a server of the version
-- before wrote the row, and in rows from before: then the file says it.
alter table order_snapshot add column goods jsonb, add column processing_fee_cents integer;
