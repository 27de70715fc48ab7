import pg from 'pg';

/** The database is unreachable or did not answer. The statement may have been executed. */
export class DatabaseUnavailable extends Error {}

/**
 * SQLSTATE classes and codes that mean trouble of the database, not of the statement
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const IN_TROUBLE = [
  '08', // the connection
  '28', // it does not let us in
  '3D', // there is no such database
  '53', // memory, disk or connections are used up
  '57', // it stops, starts, or has cancelled what took too long
  '58', // its files
  '25006', // it takes no writes: a standby
];

/** Turns connection errors and database trouble into {@link DatabaseUnavailable}; returns other errors unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  // PostgreSQL's answers are of this class. Other errors are the connection's, except for values that cannot be encoded.
  if (error instanceof pg.DatabaseError && !IN_TROUBLE.some((code) => error.code?.startsWith(code)))
    return error;
  if (error instanceof TypeError) return error;
  // For a name with several addresses Node wraps one error for each in an AggregateError without a message.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return new DatabaseUnavailable(first instanceof Error ? first.message : String(first), { cause: error });
}
