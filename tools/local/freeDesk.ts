import { claimPort, tryPort } from './ports.ts';

/** The desk's port, unless DESK_PORT is set or another program has it. */
const FIRST = 3_100;
const LAST = 65_535;

/**
 * Returns an address for the desk: at the port that was `given` by DESK_PORT or, without it, at that of the last start, `before`. If
 * that is taken, at the next free port. It is on localhost, since browsers make no passkeys for 127.0.0.1.
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
