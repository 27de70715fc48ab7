import type { Remedy } from '#core/remedy.ts';
import type { Answer } from '../../providers/answer.ts';

/** The result of one check. If something is missing, `text` also says what to do, and `remedies` names our commands that help. */
export interface Finding {
  standing: 'ok' | 'missing' | 'could not be checked';
  about: string;
  text: string;
  remedies: readonly Remedy[];
}

type Say = (text: string, ...remedies: Remedy[]) => Finding;

export const about = (subject: string): { ok: Say; missing: Say; unknown: Say } => ({
  ok: (text, ...remedies) => ({ standing: 'ok', about: subject, text, remedies }),
  missing: (text, ...remedies) => ({ standing: 'missing', about: subject, text, remedies }),
  unknown: (text, ...remedies) => ({ standing: 'could not be checked', about: subject, text, remedies }),
});

export function isForbidden(answer: Answer<unknown>): boolean {
  return 'refused' in answer && (answer.refused.status === 401 || answer.refused.status === 403);
}

export function reasonOf(answer: Answer<unknown>): string {
  return 'down' in answer ? answer.down : 'refused' in answer ? answer.refused.message : '';
}

export function list(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Whether a URL may be reachable from the internet: its host has a dot, and is neither an IP address nor a local name. */
export function isPublic(address: string): boolean {
  const host = new URL(address).hostname;
  return (
    /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+$/i.test(host) &&
    !/\.(local|localhost|internal|test)$/.test(host)
  );
}
