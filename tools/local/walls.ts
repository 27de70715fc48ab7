import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * Which other folders each folder of apps/server may import. A new import between folders must be added here, and the imports must
 * not form a cycle. Tests and the top-level files (main.ts, app.ts, wire.ts, deps.ts), which put the folders together, are
 * exempt. No file of apps/server imports apps/staff, the command line, which stands on all rooms.
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  backup: ['platform', 'privacy', 'providers'],
  certificate: ['notices', 'platform', 'session', 'society'],
  checkout: ['certificate', 'crm', 'join', 'links', 'payments', 'platform', 'session', 'society'],
  crm: ['notices', 'platform', 'providers', 'session'],
  doctor: ['crm', 'letters', 'platform', 'providers', 'society'],
  documents: ['crm', 'letters', 'notices', 'platform', 'providers', 'refunds', 'session'],
  eligibility: ['notices', 'platform', 'session'],
  fulfilment: ['platform', 'session', 'society'],
  invitations: ['platform', 'session', 'society'],
  join: ['crm', 'eligibility', 'letters', 'links', 'payments', 'platform', 'session', 'society'],
  ledger: ['payments', 'platform', 'providers'],
  letters: ['notices', 'platform', 'providers', 'session', 'society'],
  links: ['crm', 'platform', 'session', 'society'],
  membership: ['payments', 'platform', 'session', 'society'],
  notices: ['platform', 'providers'],
  pass: ['letters', 'platform', 'session'],
  payments: ['crm', 'letters', 'notices', 'platform', 'providers', 'refunds', 'session'],
  people: ['crm', 'join', 'letters', 'notices', 'pass', 'platform', 'refunds', 'session'],
  platform: ['society'],
  privacy: ['crm', 'documents', 'fulfilment', 'payments', 'platform', 'providers', 'session'],
  providers: ['platform'],
  refunds: ['crm', 'fulfilment', 'letters', 'notices', 'platform', 'providers', 'session'],
  reports: ['platform'],
  session: ['platform', 'society'],
  settlement: ['crm', 'notices', 'payments', 'platform', 'providers', 'refunds', 'session'],
  setup: ['crm', 'doctor', 'platform', 'providers', 'society'],
  story: [],
  upgrade: ['payments', 'platform', 'providers', 'session', 'society'],
  watch: ['crm', 'documents', 'platform', 'providers'],
  welcome: ['certificate', 'documents', 'payments', 'platform', 'session'],
};

/**
 * Returns a sentence for each import that is not allowed, for each cycle among the allowed imports, and for each allowed import
 * that no file needs.
 */
export function wallFaults(
  sources: readonly { path: string; text: string }[],
  allowed: Readonly<Record<string, readonly string[]>> = arrows,
): string[] {
  const faults: string[] = [];
  const needed = new Set<string>();
  for (const { path, text } of sources) {
    const from = roomOf(path);
    for (const [, specifier] of text.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)) {
      const target = posix.join(posix.dirname(path), specifier!);
      if (target.startsWith('apps/staff/'))
        faults.push(`${path}: the server does not import the command line.`);
      const to = roomOf(target);
      if (from === null || to === null || to === from) continue;
      needed.add(`${from} ${to}`);
      if (!allowed[from]?.includes(to))
        faults.push(
          `${path}: ${from} does not import ${to}. If it should, write the arrow down in tools/local/walls.ts.`,
        );
    }
  }
  for (const [from, rooms] of Object.entries(allowed))
    for (const to of rooms) {
      if (!needed.has(`${from} ${to}`))
        faults.push(`The arrow from ${from} to ${to} is not needed any more.`);
      if (reaches(allowed, to, from)) faults.push(`The arrow from ${from} to ${to} leads back to ${from}.`);
    }
  return faults;
}

/** Returns the folder of apps/server that a file is in; null for top-level files and files elsewhere. */
function roomOf(path: string): string | null {
  return /^apps\/server\/([^/]+)\/.+$/.exec(path)?.[1] ?? null;
}

function reaches(
  allowed: Readonly<Record<string, readonly string[]>>,
  from: string,
  to: string,
  seen = new Set<string>(),
): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return (allowed[from] ?? []).some((next) => reaches(allowed, next, to, seen));
}

/** Applies {@link wallFaults} to the code of apps/server, without its tests. Returns the sentences. */
export function checkWalls(root: string): string[] {
  const paths = globSync('apps/server/**/*.ts', {
    cwd: root,
    exclude: ['apps/server/dist/**', '**/*.test.ts'],
  });
  return wallFaults(paths.map((path) => ({ path, text: readFileSync(posix.join(root, path), 'utf8') })));
}
