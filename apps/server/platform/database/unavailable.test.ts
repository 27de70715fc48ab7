import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

const codeIsAway = (code: string) => {
  const error = Object.assign(new pg.DatabaseError('no', 2, 'error'), { code });
  const thrown = asUnavailable(error);
  assert.ok(thrown === error || thrown instanceof DatabaseUnavailable);
  return thrown !== error;
};

test('an error of PostgreSQL is told from a database that is away or in trouble', () => {
  for (const code of [
    '08006', // connection_failure
    '25P03', // idle_in_transaction_session_timeout
    '25P04', // transaction_timeout
    '28P01', // invalid_password
    '3D000', // invalid_catalog_name
    '53100', // disk_full
    '53300', // too_many_connections
    '57014', // query_canceled
    '57P01', // admin_shutdown
    '57P03', // cannot_connect_now
    '58030', // io_error
    '25006', // read_only_sql_transaction
    '55P03', // lock_not_available
  ])
    assert.ok(codeIsAway(code), code);
  for (const code of [
    '22P02', // invalid_text_representation
    '23505', // unique_violation
    '25P02', // in_failed_sql_transaction
    '40P01', // deadlock_detected
    '42P01', // undefined_table
    '55006', // object_in_use
  ])
    assert.ok(!codeIsAway(code), code);
});
