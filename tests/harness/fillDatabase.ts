import type pg from 'pg';

/** The number of joins that are written at a time: enough to be fast, but few enough to report progress often. */
const PART = 100_000;

/**
 * Fills a migrated, empty database with `sessions` joins of two years. Two thirds are paid; the others were abandoned at some
 * step. Every contact is in the mirror and has its own invite code, except that every thousandth code is a school's. The other
 * tables are filled in proportion: orders, snapshots, payments, memberships, upgrades, documents, letters, refunds, card
 * failures, events, notices, and the counts of the rate limits. The last joins are still in progress, with open intents and a few
 * frozen orders. Nothing is due to be sent to Stripe or HubSpot within the hour. Contact ids start at 100000001, codes at
 * `FILLED1`. Needs a superuser, since it turns foreign key checks off.
 */
export async function fillDatabase(
  database: pg.Client,
  sessions: number,
  say: (done: number) => void = () => {},
): Promise<void> {
  await database.query("set session_replication_role = 'replica'");
  await database.query('set synchronous_commit = off');
  try {
    for (let first = 1; first <= sessions; first += PART) {
      const last = Math.min(sessions, first + PART - 1);
      for (const statement of statements) await database.query(statement, [first, last, sessions]);
      say(last);
    }
  } finally {
    await database.query('reset session_replication_role');
    await database.query('reset synchronous_commit');
  }
  await database.query("select setval(pg_get_serial_sequence('person', 'id'), (select max(id) from person))");
  // The invitations are counted here, because the triggers that count them were off.
  await database.query('select recount_invitations()');
  await database.query('vacuum (analyze)');
}

/**
 * A query that generates the data of joins from nothing but the joins' numbers. It makes the joins with the numbers from `$1` to
 * `$2`; `$3` is the number of all joins.
 */
const joins = `
  select n, overlay(overlay(md5('session ' || n) placing '4' from 13) placing '8' from 17)::uuid as uuid, now() - interval '2 years' * (1 - n::float / $3::int) - interval '3 days' as at,
    n % 20 < 16 as is_invited, n % 20 = 19 as is_nominated, n % 100 < 66 as is_paid,
    case when n % 100 < 66 then 'paid' when n % 100 = 70 and n > $3::int * 0.98 - 50 then 'paying' when n % 100 < 80 then 'ordering' when n % 100 < 90 then 'detailed' else 'started' end as state,
    (100000000 + n)::text as contact, 'pi_' || md5('intent ' || n) as intent, n % 10 = 3 as has_donation, n % 8 = 2 as has_item,
    n % 100 < 66 and n % 10 = 5 as is_upgraded, n > $3::int * 0.98 - 50 as is_recent, 6500 + case when n % 10 = 3 then 2500 else 0 end + case when n % 8 = 2 then 1200 else 0 end as cents
  from generate_series($1::int, $2::int) n`;

const person = `'firstName', 'First' || n, 'middleName', '', 'lastName', 'Last' || n, 'city', 'Austin', 'state', 'Texas', 'country', 'United States',
  'personalEmail', 'person' || n || '@example.com', 'schoolEmail', '', 'highSchoolName', 'Austin High School', 'highSchoolGraduationYear', '2027', 'highSchoolGpa', '3.8'`;

const statements = [
  `insert into person (id, contact_id, made_contact, profile, email, likeness, words, is_member, fetched_at, created_at) overriding system value
   select n, contact, not is_invited, json_build_object(${person}, 'address', n || ' Oak Street', 'zip', '78701', 'acceptedPrivacyPolicy', false),
     'person' || n || '@example.com', 'person' || n || '@example.com first' || n || ' last' || n,
     'first' || n || ' last' || n || ' person' || n || '@example.com', is_paid and is_invited, at, at
   from (${joins}) as joins`,
  `insert into invitation (code, person_id, school, created_at)
   select case when n % 1000 = 0 then 'SCHOOL' else 'FILLED' end || n, case when n % 1000 <> 0 then n end,
     case when n % 1000 = 0 then 'School ' || n end, at
   from (${joins}) as joins`,
  `insert into join_session (uuid, state, origin, programme, person_id, invitation_code, school, details, has_agreed_to_policies, revision, lines, paying_since,
     paid_at, upgrade, address_hash, created_at, updated_at)
   select uuid, state::join_session_state, (case when is_invited then 'invite' when is_nominated then 'self_nomination' else 'school' end)::join_session_origin, 'high-school',
     n, case when is_invited then 'FILLED' || n when not is_nominated then 'SCHOOL' || (n / 1000 + 1) * 1000 end,
     case when not is_invited and not is_nominated then 'School ' || (n / 1000 + 1) * 1000 end,
     case when state <> 'started' then json_build_object(${person}, 'address1', n || ' Oak Street', 'address2', '', 'zipcode', '78701', 'agreeToPolicies', true) end,
     state <> 'started', case when is_paid then 2 when state in ('ordering', 'paying') then 1 else 0 end,
     case when is_paid or state in ('ordering', 'paying') then jsonb_build_array(jsonb_build_object('number', 1, 'productId', 1, 'type', 'membership', 'name', 'Membership', 'priceCents', 6500))
       || case when has_donation then jsonb_build_object('number', 2, 'productId', 21, 'type', 'donation', 'name', 'Donation', 'priceCents', 2500) else '[]' end
       || case when has_item then jsonb_build_object('number', 3, 'productId', 30, 'type', 'store', 'name', 'Lapel Pin', 'priceCents', 1200) else '[]' end
       else '[]' end,
     case when state = 'paying' then now() end,
     case when is_paid then at + interval '20 minutes' end, (case when is_upgraded then 'taken' when is_paid then 'skipped' else 'open' end)::join_session_upgrade,
     left(md5('address ' || n / 5), 22), at, at + interval '20 minutes'
   from (${joins}) as joins`,
  `insert into crm_delivery (person_id, sent)
   select n, json_build_object('firstName', 'First' || n, 'lastName', 'Last' || n, 'city', 'Austin')
   from (${joins}) as joins where state <> 'started'`,
  `insert into order_snapshot (session_uuid, kind, revision, amount_cents, items, goods, created_at)
   select uuid, 'join', 1 + number, cents, json_build_array(json_build_object('productId', 1, 'type', 'membership', 'name', 'Membership', 'priceCents', 6500)),
     json_build_array(case when n % 200 = 12 then 'Honor Cord' end), at + interval '15 minutes'
   from (${joins}) as joins cross join generate_series(0, 1) number
   where is_paid or state in ('ordering', 'paying') and number = 0
   union all
   select uuid, 'upgrade', 1, 4500, json_build_array(json_build_object('productId', 10, 'type', 'membership_upgrade', 'name', 'Distinguished Member', 'priceCents', 4500)),
     '[null]', at + interval '22 minutes'
   from (${joins}) as joins where is_upgraded`,
  `insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision, receipt_email,
     payment_method_id, card_brand, card_last4, refunded_cents, followed, succeeded_at, has_unsent_goods, checked_at, created_at, updated_at)
   select case kind when 'join' then intent else intent || '_up' end, uuid, kind, 1, case when is_paid then 'succeeded' when is_recent then 'open' else 'canceled' end,
     intent || '_secret_' || md5('secret ' || n), 'cus_' || md5('customer ' || n), case kind when 'join' then cents else 4500 end,
     case when is_paid and kind = 'join' then 2 else 1 end, 'person' || n || '@example.com', 'pm_' || md5('card ' || n), 'visa', '4242',
     case when n % 200 = 20 and kind = 'join' then cents else 0 end, 0, case when is_paid then at + interval '20 minutes' end,
     is_paid and kind = 'join' and n % 200 = 12, case when is_recent then now() else at + interval '20 minutes' end, at + interval '15 minutes', at + interval '20 minutes'
   from (${joins}) as joins cross join (values ('join'), ('upgrade')) as intents (kind)
   where kind = 'join' and (is_paid or state in ('ordering', 'paying') and n % 2 = 0) or kind = 'upgrade' and is_upgraded`,
  `insert into membership (session_uuid, person_id, product_id, type, payment_intent, standing, member_number, created_at)
   select uuid, n, case type when 'membership' then 1 else 10 end, type,
     case type when 'membership' then intent else intent || '_up' end,
     case when n % 200 = 20 and type = 'membership' then 'refunded' else 'active' end,
     case type when 'membership' then lpad(upper(to_hex(n)), 8, '0') end, at + interval '20 minutes'
   from (${joins}) as joins cross join (values ('membership'), ('membership_upgrade')) as bought (type)
   where is_paid and (type = 'membership' or is_upgraded)`,
  `insert into refund (intent_id, stripe_id, amount_cents, reason, status, created_at, updated_at)
   select intent, 're_' || md5('refund ' || n), cents, 'requested', 'succeeded', at + interval '5 days', at + interval '5 days'
   from (${joins}) as joins where is_paid and n % 200 = 20`,
  `insert into document (id, kind, session_uuid, person_id, name, media_type, size_bytes, sha256, storage_key, review, reviewed_at, crm_file_id, crm_note_id, crm_next_try_at, created_at)
   select md5('document ' || n || kind)::uuid, kind, case kind when 'transcript' then uuid end, case kind when 'resume' then n end,
     kind || '.pdf', 'application/pdf', 250000 + n % 100000, decode(md5('bytes ' || n) || md5('more ' || n), 'hex'), md5('key ' || n || kind), 'accepted',
     at + interval '2 days', 'file' || n, 'note' || n, null, at + interval '1 day'
   from (${joins}) as joins cross join (values ('transcript'), ('resume')) as document (kind)
   where is_paid and (kind = 'transcript' and n % 5 = 1 or kind = 'resume' and n % 10 = 1)`,
  `insert into letter (kind, session_uuid, occasion, email, due_at, next_try_at, attempts, sent_at, created_at)
   select kind, uuid, intent, 'person' || n || '@example.com', at + interval '1 day', at + interval '1 day', 1, at + interval '1 day', at
   from (${joins}) as joins cross join (values ('confirmation'), ('certificate'), ('portal')) as written (kind) where is_paid`,
  `insert into card_failure (charge_id, session_uuid, address_hash, created_at)
   select 'ch_' || md5('failure ' || n), uuid, left(md5('address ' || n / 5), 22), at + interval '19 minutes'
   from (${joins}) as joins where is_paid and n % 25 = 4`,
  `insert into limit_count (name, key, window_start, count)
   select name, left(md5('address ' || n / 5), 22), date_bin('1 minute', at, 'epoch'), 1 + n % 3
   from (${joins}) as joins cross join (values ('wrong_code'), ('intents')) as counted (name)
   where n % 5 = 0 and (name = 'intents' or n % 4 = 0)
   on conflict do nothing`,
  `insert into stripe_event (id, handled_at)
   select 'evt_' || md5('event ' || n || number), now() - interval '34 days' * (1 - n::float / $3::int)
   from (${joins}) as joins cross join generate_series(1, 3) number where n % 20 = 0`,
  `insert into staff_notice (kind, session_uuid, params, created_at)
   select 'back_again', uuid, jsonb_build_object('intentId', intent), at from (${joins}) as joins where n % 200 = 10`,
];
