import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { parseSociety } from '../../apps/server/society/readSociety.ts';
import type { TestServer } from './testServer.ts';

/** Gives the server an edited society file until the test ends, as if staff had edited it and restarted the server. */
export function changeSociety(t: TestContext, { deps }: TestServer, edit: (source: string) => string): void {
  const { society } = deps;
  t.after(() => {
    deps.society = society;
  });
  const source = readFileSync(deps.config.societyFile, 'utf8');
  const edited = edit(source);
  if (edited === source) throw new Error('The edit of the society file changes nothing.');
  deps.society = parseSociety(edited, deps.config.societyFile);
}
