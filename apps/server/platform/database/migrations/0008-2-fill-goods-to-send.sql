-- Payments from before the triggers.
update payment set has_unsent_goods = true
where intent_id = any(array(
  select paid.intent_id from order_snapshot ordered, lateral (
    select * from payment
    where session_uuid = ordered.session_uuid and kind = ordered.kind and revision = ordered.revision and status = 'succeeded' offset 0) paid
  where (ordered.goods is null or jsonb_path_exists(ordered.goods, '$[*] ? (@ != null)')) and has_unsent_goods_of(paid)));
