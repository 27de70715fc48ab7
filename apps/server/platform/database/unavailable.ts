import pg from 'pg';

/** The database is unreachable or did not answer. The statement may have been executed. */
export class DatabaseUnavailable extends Error {}

/**
 * SQLSTATE classes and codes that mean that the database, not the statement, is at fault
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const IN_TROUBLE = [
  '08', // the connection
  '28', // wrong user or password
  '3D', // the database does not exist
  '53', // memory, disk or connections are used up
  '57', // the server is stopping or starting, or cancelled a statement that took too long
  '58', // an error of its files
  '25006', // read-only: the host is a standby
];

/** Turns connection errors and other faults of the database into {@link DatabaseUnavailable}; returns other errors unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  // PostgreSQL's own errors are of the class `DatabaseError`. All others come from the connection, except a TypeError, which pg
  // throws for a value that it cannot encode.
  if (error instanceof pg.DatabaseError && !IN_TROUBLE.some((code) => error.code?.startsWith(code)))
    return error;
  if (error instanceof TypeError) return error;
  // If a host name has several addresses, Node throws an AggregateError that has no message and holds one error for each address.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return new DatabaseUnavailable(first instanceof Error ? first.message : String(first), { cause: error });
}
