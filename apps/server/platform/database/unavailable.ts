import pg from 'pg';

/** The database cannot be asked now, or did not answer. What was asked may have been done all the same. */
export class DatabaseUnavailable extends Error {}

/**
 * What PostgreSQL says when it is the database that is in trouble, and not the statement: by class or whole code
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

/** {@link DatabaseUnavailable} for whatever is no answer to a statement; any other error as it is. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  // All that PostgreSQL answers is of this class. Anything else is about the connection, but for what cannot be sent at all.
  if (error instanceof pg.DatabaseError && !IN_TROUBLE.some((code) => error.code?.startsWith(code)))
    return error;
  if (error instanceof TypeError) return error;
  // Where a name leads to several addresses, Node reports one error for each, under one that says nothing.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return new DatabaseUnavailable(first instanceof Error ? first.message : String(first), { cause: error });
}
