import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * Which other rooms (folders of apps/server) each room may import, values or types. A new import between rooms must be added
 * here, and the imports must not form a cycle. Tests and the files at the top (main.ts, app.ts, wire.ts, …), which put the rooms
 * together, are exempt. No room imports a file at the top, and no file of apps/server imports apps/staff, the command line, which
 * builds on all rooms.
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  books: ['crm', 'letters', 'paying', 'platform', 'providers', 'session'],
  crm: ['letters', 'platform', 'providers', 'session'],
  desk: [
    'books',
    'crm',
    'documents',
    'joining',
    'letters',
    'membership',
    'paying',
    'people',
    'platform',
    'running',
    'session',
    'society',
  ],
  documents: ['crm', 'letters', 'paying', 'platform', 'providers', 'session'],
  joining: ['crm', 'documents', 'letters', 'membership', 'paying', 'platform', 'session', 'society'],
  letters: ['platform', 'providers', 'session', 'society'],
  membership: ['letters', 'platform', 'session', 'society'],
  paying: ['crm', 'letters', 'membership', 'platform', 'providers', 'session', 'society'],
  people: [
    'crm',
    'documents',
    'joining',
    'letters',
    'membership',
    'paying',
    'platform',
    'providers',
    'session',
    'society',
  ],
  platform: [],
  providers: ['platform'],
  running: ['crm', 'documents', 'letters', 'people', 'platform', 'providers', 'society'],
  session: ['platform', 'society'],
  society: [],
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
      if (from === null) continue;
      if (/^apps\/server\/[^/]+$/.test(target))
        faults.push(`${path}: only files at the top of the server import ${posix.basename(target)}.`);
      const to = roomOf(target);
      if (to === null || to === from) continue;
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
