import type { SettingReader } from './reader.ts';

/** The values of `target_session_attrs` that Induct accepts. All other values allow a host that is read-only. */
const WRITABLE = ['read-write', 'primary'];

/**
 * Reads DATABASE_URL, which may name several hosts in the syntax of libpq:
 * `postgres://u:p@h1,h2:5433/db?target_session_attrs=read-write`
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS). Returns undefined if the setting is missing
 * or wrong.
 */
export function readDatabaseUrl({ get, fault }: SettingReader): string | undefined {
  const value = get('DATABASE_URL');
  if (value === undefined) return undefined;
  const addresses = addressesOf(value);
  if (addresses.some((address) => !/^postgres(ql)?:/.test(address) || !URL.canParse(address))) {
    fault('DATABASE_URL must be an address that begins with postgres:// or postgresql://.');
    return undefined;
  }
  const { searchParams } = new URL(addresses[0]!);
  if (searchParams.get('sslrootcert') === 'system')
    fault(
      'DATABASE_URL says sslrootcert=system, which servers would take for a file of that name: name the file of the CAs (docs/reference.md, "TLS to the database").',
    );
  const wanted = searchParams.get('target_session_attrs');
  if (wanted !== null && !WRITABLE.includes(wanted))
    fault(
      `DATABASE_URL says target_session_attrs=${wanted}, and Induct writes: leave it out, or say read-write.`,
    );
  return value.replace(/\/$/, '');
}

/** Splits a DATABASE_URL with several hosts into one URL for each host, in the same order. */
export function addressesOf(databaseUrl: string): string[] {
  const [, before, hosts, after] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(databaseUrl) ?? [];
  return hosts === undefined ? [databaseUrl] : hosts.split(',').map((host) => before + host + after);
}

/** Whether the database's hosts must be checked for accepting writes: if there are several, or if `target_session_attrs` is set. */
export function maybeStandby(databaseUrl: string): boolean {
  const addresses = addressesOf(databaseUrl);
  return addresses.length > 1 || new URL(databaseUrl).searchParams.has('target_session_attrs');
}

/** Returns the hosts and ports of a DATABASE_URL for messages, without user and password: `h1:5432, h2:5433`. */
export function placeOf(databaseUrl: string): string {
  return addressesOf(databaseUrl)
    .map((address) => new URL(address))
    .map(({ hostname, port }) => `${hostname}:${port || 5432}`)
    .join(', ');
}
