import { REPORTS_PATH } from '#contract/calls.ts';
import { screenAt } from '#core/navigation.ts';
import { theSite } from './site.ts';

/**
 * What broke: a screen that failed (`router`), code that could not be loaded (`chunk`), a page that React had to render again
 * (`recovered`), or the whole page (`uncaught`).
 */
export type FaultKind = 'router' | 'chunk' | 'recovered' | 'uncaught';

const reported = new Set<string>();

/**
 * Reports an error on the page to the server, once for each different error. Sends the name of the error, its position in our
 * scripts and the name of the screen. The error's message and the page's URL are not sent, since they may contain data about the
 * joiner.
 */
export function reportFault(kind: FaultKind, error: unknown): void {
  const body = JSON.stringify({ fault: { kind, ...faultOf(error, window.location.pathname) } });
  if (reported.has(body)) return;
  reported.add(body);
  fetch(theSite().apiUrl + REPORTS_PATH, {
    method: 'POST',
    keepalive: true,
    headers: { 'content-type': 'application/json' },
    body,
  }).catch(() => {});
}

/** Returns the parts of an error that only concern our code. React's own errors are distinguished by their numbers. */
export function faultOf(error: unknown, path: string): { error: string; at: string; screen: string } {
  const { name, message, stack } = error instanceof Error ? error : new Error();
  const number = /^Minified React error (#\d+)/.exec(message)?.[1];
  return {
    error: error instanceof Error ? [name, number].filter(Boolean).join(' ') : typeof error,
    at: /\/static\/js\/([\w./-]+\.js:\d+:\d+)/.exec(stack ?? '')?.[1] ?? '',
    screen: screenAt(path) ?? 'other',
  };
}
