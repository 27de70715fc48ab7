import { buildApp } from './app.ts';
import { startFillingContacts } from './contacts/fillContacts.ts';
import { startPushing } from './contacts/push.ts';
import { startAttachingDocuments } from './documents/attachDocuments.ts';
import { startSweepingDocuments } from './documents/sweepDocuments.ts';
import { startWatchingGuesses } from './eligibility/watchGuesses.ts';
import { startReconciling } from './payments/reconcile.ts';
import { startSweeping } from './payments/sweep.ts';
import type { Wired } from './wire.ts';

/** Background work begins so long after the server listens (ms), so that it delays no first answer: it loads Stripe's library. */
const BEGIN_MS = 1_000;

/** Serves, and does in the background what no call waits for. `stop` finishes what is under way. */
export async function run(
  { deps, database, hubspot }: Wired,
  options: { webBuild?: string },
): Promise<{ url: string; stop(): Promise<void> }> {
  const { host, port } = deps.config;
  const app = await buildApp(deps, options);
  const url = await app.listen({ host, port });
  let background: (() => Promise<void>)[] = [];
  const begin = setTimeout(() => {
    background = [
      startPushing(deps, hubspot),
      startFillingContacts(deps, hubspot),
      startWatchingGuesses(deps),
      startSweeping(deps),
      startReconciling(deps),
      startSweepingDocuments(deps),
      startAttachingDocuments(deps, hubspot),
    ];
  }, BEGIN_MS);
  return {
    url,
    async stop() {
      clearTimeout(begin);
      await Promise.all([app.close(), ...background.map((end) => end())]);
      await database.destroy();
    },
  };
}
