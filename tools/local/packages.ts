import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/**
 * The folders that run in production: the server with its processes and threads, and the staff command line. Tests and bundler
 * settings do not run there.
 */
export const running = ['apps/server', 'apps/staff', 'packages/{contract,core,documents,reference}'];
/** The folders that are bundled for browsers. */
export const browsers = ['apps/web', 'apps/desk', 'packages'];

/** Returns all TypeScript in these folders, except tests, builds and the bundler's settings. */
export function sourcesIn(folders: readonly string[]): string {
  return globSync(
    folders.map((folder) => `${folder}/**/*.{ts,tsx}`),
    { cwd: root, exclude: ['**/dist/**', '**/*.test.ts', '**/*.config.ts', 'apps/web/build/**'] },
  )
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
}

/** Returns the packages that a source text imports, each once, by name. */
export function packagesImportedBy(sources: string): string[] {
  const imports = sources.matchAll(
    /\b(?:from|import)\s*(?:\(\s*(?:\/\*.*?\*\/\s*)?)?'((?:@[\w-]+\/)?[\w-][\w.-]*)(?:\/[^']*)?'/g,
  );
  return [...new Set([...imports].map(([, name]) => name!))].sort();
}
