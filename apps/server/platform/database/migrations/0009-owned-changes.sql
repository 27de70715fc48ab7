-- Whose the change of the intent is that is under way: only who wrote this mark, or saw it and gave the intent up, removes
-- it. A change that ends late finds another's mark and leaves it alone.
alter table join_session add column intent_change uuid;

-- Whether the intent saves its card for an upgrade; null for those made before this was kept.
alter table payment add column saves_card boolean;

-- How often Stripe has answered a new intent of this session with a failure of its own. Stripe keeps such an answer under its
-- idempotency key for a day, so the next try has another key.
alter table join_session add column provider_failures integer not null default 0;
