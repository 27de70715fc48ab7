import { setTimeout as pause } from 'node:timers/promises';
import { buildApp } from './app.ts';
import { startReconciling } from './books/reconcile.ts';
import { startSweeping } from './books/sweep.ts';
import { startPushing } from './crm/push.ts';
import { buildDesk } from './desk/app.ts';
import { startAttachingDocuments } from './documents/attachDocuments.ts';
import { startSweepingDocuments } from './documents/sweepDocuments.ts';
import { startWorkingOnImports } from './joining/invitations/workOnImports.ts';
import { startSendingLinks } from './joining/pass/sendLinks.ts';
import { startWatchingGuesses } from './joining/watchGuesses.ts';
import { startSendingLetters } from './letters/sendLetters.ts';
import { startForgettingMerges } from './people/mergePersons.ts';
import { startForgetting } from './people/privacy/retention.ts';
import { stopAccepting } from './platform/http/drain.ts';
import { Stopping } from './platform/http/stopping.ts';
import type { WaitingRoom } from './platform/http/waitingRoom.ts';
import { serveMetrics } from './running/serveMetrics.ts';
import type { Wired } from './wire.ts';

/** Background work begins this long (ms) after the server starts listening, so that it does not delay the first answers. */
const BEGIN_MS = 1_000;

/**
 * Serves calls and runs the background work. `stop` lets running calls and work finish. If a load balancer polls /readyz, `stop`
 * first makes it answer 503 for some seconds, and only then refuses new connections.
 */
export async function run(
  { deps, database, background: backgroundDatabase, hubspot }: Wired,
  { webBuild, deskBuild, room }: { webBuild?: string; deskBuild?: string; room?: WaitingRoom },
): Promise<{ url: string; stop(): Promise<void> }> {
  const { host, stopDelaySeconds, metricsPort } = deps.config;
  const stopping = new Stopping();
  const app = await buildApp(deps, { ...(webBuild === undefined ? {} : { webBuild }), stopping });
  await room?.leave();
  const url = await app.listen({ host, port: room?.port ?? deps.config.port });
  const desk = deps.config.desk && buildDesk({ ...deps, deskUrl: deps.config.desk.url }, deskBuild);
  await desk?.listen({ host: deps.config.desk!.host, port: deps.config.desk!.port });
  const metrics =
    metricsPort === null ? null : await serveMetrics({ ...deps, database: backgroundDatabase }, metricsPort);
  if (metrics) deps.log.info({ url: metrics.url }, 'metrics are served');
  let background: (() => Promise<void>)[] = [];
  const begin = setTimeout(() => {
    const work = { ...deps, database: backgroundDatabase };
    background = [
      startPushing(work),
      startWatchingGuesses(work),
      startSweeping(work),
      startReconciling(work),
      startSweepingDocuments(work),
      startForgetting(work),
      startForgettingMerges(work),
      startAttachingDocuments(work, hubspot),
      startSendingLinks(work),
      startWorkingOnImports(work),
      startSendingLetters(work),
    ];
  }, BEGIN_MS);
  return {
    url,
    async stop() {
      clearTimeout(begin);
      stopping.begin();
      const ended = background.map((end) => end());
      if (stopping.isWatched) await pause(stopDelaySeconds * 1_000);
      await stopAccepting(app.server);
      await Promise.all([app.close(), desk?.close(), ...ended]);
      await metrics?.close();
      await Promise.all([database.destroy(), backgroundDatabase.destroy()]);
    },
  };
}
