import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sharedServer } from '../../../../tests/harness/testServer.ts';

const { deps } = await sharedServer();

/** The columns of each table that contain no personal data. `*` means all columns of the table. */
const nobodys: Record<string, string> = {
  browser_report: '*',
  crm_budget: '*',
  crm_delivery: 'due_at due_since revision tries',
  page_file: '*',
  schedule: '*',
  secret: '*',
  stripe_event: '*',
  migration: '*',
  card_failure: 'created_at',
  document:
    'created_at crm_attempts crm_next_try_at id is_final kind media_type removed_at review reviewed_at size_bytes',
  erasure: 'erased_at',
  event_retry: 'attempts created_at id next_try_at',
  forget_at_stripe: 'kind',
  invitation: 'created_at expires_at is_withdrawn programme withdrawn_at',
  join_event: 'at cause id step',
  join_session:
    'begun_revision created_at erased_at has_agreed_to_policies intent_change intent_changing_since lines origin paid_at paying_since programme proven_at provider_failures revision state updated_at upgrade upsell_product_id',
  letter: 'attempts created_at due_at id kind next_try_at sent_at withdrawn_at',
  limit_count: 'count name window_start',
  membership: 'created_at id is_held is_unlisted product_id standing type',
  order_snapshot: 'amount_cents created_at goods items kind processing_fee_cents revision',
  pass: 'code_expires_at name_tries revoked_at tries',
  pass_request: 'created_at id',
  person: 'created_at deleted_at erased_at fetched_at id made_contact merged_into',
  person_merge: 'created_at id',
  kept_apart: 'created_at',
  payment:
    'amount_cents attempt checked_at created_at dispute followed kind looked_at refunded_cents revision saves_card seen_at seen_status status succeeded_at updated_at',
  reconciliation: 'counts finished_at id started_at',
  refund:
    'amount_cents assigned_at attempts created_at is_dispute lines next_try_at reason refusal status stripe_id updated_at uuid',
  reminder_stop: 'stopped_at',
  shipment: 'goods id line product_id shipped_at unshipped_at',
  staff_notice: 'count created_at ended_at id kind last_seen_at',
  upload_link: 'created_at expires_at',
};

test('each column of each table is in docs/privacy.md, or known to hold nobody’s data', async () => {
  const page = readFileSync(new URL('../../../../docs/privacy.md', import.meta.url), 'utf8');
  const named = new Set([...page.matchAll(/`([a-z_]+\.[a-z0-9_]+)`/g)].map(([, column]) => column!));
  const { rows } = await sql<{ table: string; column: string }>`
    select table_name as table, column_name as column from information_schema.columns where table_schema = 'public'`.execute(
    deps.database,
  );
  assert.ok(rows.length > 150);
  const isNobodys = ({ table, column }: { table: string; column: string }) =>
    nobodys[table] === '*' || nobodys[table]?.split(' ').includes(column) === true;
  const name = ({ table, column }: { table: string; column: string }) => `${table}.${column}`;
  const missing = rows.filter((row) => !named.has(name(row)) && !isNobodys(row)).map(name);
  assert.deepEqual(missing, [], 'write them into docs/privacy.md');
  const both = rows.filter((row) => named.has(name(row)) && isNobodys(row)).map(name);
  assert.deepEqual(both, [], 'they are personal or not');
  const tables = new Set(rows.map(({ table }) => table));
  const known = new Set(rows.map(name));
  const gone = [
    ...Object.entries(nobodys).flatMap(([table, columns]) =>
      columns === '*'
        ? tables.has(table)
          ? []
          : [table]
        : columns.split(' ').map((column) => `${table}.${column}`),
    ),
    ...[...named].filter((column) => tables.has(column.split('.')[0]!)),
  ].filter((column) => !known.has(column));
  assert.deepEqual(gone, [], 'there is no such column any more');
});
