import type { LedgerEntry } from '../../emulators/shared/ledger.ts';
import { matchPath } from '../../emulators/shared/paths.ts';
import { ApiVersion } from '../../emulators/stripe/api-version.ts';
import type { FormTree } from '../../emulators/stripe/form.ts';
import { ROUTES } from '../../emulators/stripe/routes.ts';
import { readParams } from '../../emulators/stripe/shapes.ts';
import type { Difference } from './ledger.ts';
import { operations, type ServerCall, serverCalls } from './operations.ts';

/** Returns the requests that our server made: only its Stripe client sends the header with the API version. */
export function fromServer(requests: readonly LedgerEntry[]): LedgerEntry[] {
  return requests.filter(({ headers }) => headers['stripe-version'] !== undefined);
}

/**
 * Returns a difference for each faulty request of our server to Stripe: a parameter is unknown, missing or of the wrong type, the
 * emulator does not have the call, or the API version is not the pinned one.
 */
export function misshapen(requests: readonly LedgerEntry[]): Difference[] {
  return fromServer(requests).flatMap(({ method, path, params, status, headers }) => {
    const wrong = (text: string): Difference[] => [
      { kind: 'request out of shape', subject: `${method} ${path}`, text },
    ];
    if (status === 501) return wrong('not emulated');
    if (headers['stripe-version'] !== ApiVersion) return wrong(`version ${headers['stripe-version']}`);
    const route = ROUTES.find((one) => one.method === method && matchPath(one.path, path));
    if (!route) return wrong('no such call');
    if (route.shape === null)
      return Object.keys(params as object).length > 0 ? wrong('takes no parameters') : [];
    try {
      readParams(params as FormTree, route.shape, route.params);
      return [];
    } catch (error) {
      return wrong((error as Error).message || JSON.stringify(error));
    }
  });
}

/** Counts how often our server made each call to Stripe. */
export function countCalls(requests: readonly LedgerEntry[]): Record<ServerCall, number> {
  const counts = Object.fromEntries(serverCalls.map((name) => [name, 0])) as Record<ServerCall, number>;
  for (const { method, path, params } of fromServer(requests)) {
    const kind = (params as { metadata?: { kind?: string } }).metadata?.kind;
    const name = serverCalls.find((one) => {
      const { method: own, path: pattern, names } = operations[one];
      const fits = own === method && matchPath(pattern, path) !== undefined;
      return fits && (!kind || (names !== 'join' && names !== 'upgrade') || names === kind);
    });
    if (name) counts[name]++;
  }
  return counts;
}
