-- Reminders of joins that were left behind are letters (apps/server/letters/remind.ts). Who wants none is known by a keyed hash of
-- the email, whatever join it was given in.
create table reminder_stop (
  email_hash bytea primary key,
  stopped_at timestamptz not null default now()
);
-- How many have come to an email lately.
create index letter_reminded on letter (lower(email), sent_at) where kind in ('reminder-hour', 'reminder-days');
