import pg from 'pg';

/** Thrown if the database is unreachable or does not answer. The statement may have been executed. */
export class DatabaseUnavailable extends Error {}

/**
 * The SQLSTATE classes and codes of errors that are the fault of the database, not of the statement
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const IN_TROUBLE = [
  '08', // the connection
  '25P03', // a transaction that was idle for too long (`idle_in_transaction_session_timeout`)
  '25P04', // a transaction that took too long (`transaction_timeout`)
  '28', // authorization: wrong user or password
  '3D', // no such database
  '53', // out of memory, disk or connections
  '57', // the server is stopping or starting, or has cancelled the statement (`statement_timeout`, for example)
  '58', // an I/O error
  '25006', // read-only: the host is a standby
  '55P03', // a lock that was not acquired within `lock_timeout`
];

/** Returns a {@link DatabaseUnavailable} for a connection error or another fault of the database; other errors unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  // PostgreSQL's own errors are a `DatabaseError`. pg throws a TypeError for a value that it cannot encode, which is a bug of ours.
  // All other errors come from the connection.
  if (error instanceof pg.DatabaseError && !IN_TROUBLE.some((code) => error.code?.startsWith(code)))
    return error;
  if (error instanceof TypeError) return error;
  // For a host name with several addresses, Node throws an AggregateError without a message. The AggregateError's `errors` have one
  // error for each address.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return new DatabaseUnavailable(first instanceof Error ? first.message : String(first), { cause: error });
}
