import { claimPort, tryPort } from './ports.ts';

/** The first port to try for the desk, unless DESK_PORT is set. */
const FIRST = 3_100;
const LAST = 65_535;

/**
 * Returns a URL for the desk, on the port `given` by DESK_PORT; without it, on the port of the last start (`before`). If that
 * port is taken, uses the next free one. The host is localhost, because browsers create no passkeys for 127.0.0.1.
 */
export async function freeDesk(
  given: number | null,
  before: string | undefined,
): Promise<{ url: string; port: string }> {
  const first = given ?? FIRST;
  const last = /^http:\/\/localhost:(\d+)$/.exec(before ?? '')?.[1];
  const ports = Array.from({ length: 100 }, (_, index) => first + index).filter((port) => port <= LAST);
  if (given === null && last) ports.unshift(Number(last));
  for (const port of ports)
    if (typeof (await tryPort(port, '127.0.0.1')) === 'number' && (port === given || (await claimPort(port))))
      return { url: `http://localhost:${port}`, port: String(port) };
  throw new Error(`The desk found no free port from ${first} on. Choose another: DESK_PORT.`);
}
