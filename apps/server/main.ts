import { existsSync } from 'node:fs';
import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { linkAddress, makeOwnerLink } from './desk/links.ts';
import { importInvitations } from './joining/invitations/importInvitations.ts';
import { ConfigFaults, readConfig } from './platform/config/config.ts';
import { migrate } from './platform/database/migrate.ts';
import { whenReached } from './platform/database/whenReached.ts';
import { createLog, withCopy } from './platform/http/logging.ts';
import { keepPageFiles } from './platform/http/pageFiles.ts';
import { stopMs } from './platform/http/stopping.ts';
import { serverFolder } from './platform/serverFolder.ts';
import { version } from './platform/version.ts';
import { run } from './run.ts';
import { logAbsent } from './running/doctor/askAbsent.ts';
import { readSociety, SocietyFaults } from './society/readSociety.ts';
import { type Wired, wire } from './wire.ts';

/** Invite codes for the demo, in addition to those of the contacts in the HubSpot emulator. */
const demoInvitations = join(serverFolder, '../../society/demo-invitations.csv');
const webBuild = join(serverFolder, '../web/dist');
const deskBuild = join(serverFolder, '../desk/dist');

/**
 * Runs the server process: reads the settings and the society's file, connects the database and the providers, then serves HTTP.
 * Faults in the settings or the file end the process.
 */
async function main(): Promise<void> {
  const config = readConfig();
  const telemetry =
    config.otlpEndpoint === null
      ? null
      : (await import('./platform/telemetry.ts')).startTelemetry(config.otlpEndpoint, version);
  const log = createLog(config.logLevel, telemetry ? withCopy(telemetry.logs) : undefined);
  let server: Awaited<ReturnType<typeof run>> | undefined;
  let stopped: Promise<void> | undefined;
  const closing = closeWithGrace(
    {
      delay: stopMs(config),
      logger: log,
      onTimeout: () => log.error('what was under way did not end: stopping without it'),
      // close-with-grace does not handle these errors. Node itself reports them better, and ends the process.
      skip: ['uncaughtException', 'unhandledRejection'],
    },
    async () => {
      stopped ??= server?.stop();
      await stopped;
      await telemetry?.stop();
    },
  );
  // If the launcher that started this process ends, this server ends as well, because nobody else would stop it.
  process.once('disconnect', () => closing.close());

  const hasPage = existsSync(webBuild);
  const readName = () => readSociety(config.societyFile).society.name;
  const { done: wired, room } = await whenReached(config, log, readName, async () => {
    await migrate(config.databaseUrl, { warn: (sentence) => log.warn(sentence) });
    const wired = await wire(config, log);
    try {
      if (config.providers.emulated) await importDemo(wired);
      if (hasPage) await keepPageFiles(wired.background, webBuild);
      return wired;
    } catch (error) {
      await Promise.all([wired.database.destroy(), wired.background.destroy()]);
      throw error;
    }
  });
  if (config.mode === 'live' && config.documentKeys === null)
    log.warn('documents are not encrypted: DOCUMENT_KEY is not set (docs/run.md, "Encrypt documents")');
  server = await run(wired, {
    ...(config.mode === 'live' || hasPage ? { webBuild } : {}),
    ...(config.mode === 'live' || existsSync(deskBuild) ? { deskBuild } : {}),
    ...(room ? { room } : {}),
  });
  const { desk, mode } = config;
  const deskLink =
    desk && mode === 'local' ? linkAddress(desk.url, await makeOwnerLink(wired.deps)) : undefined;
  process.send?.({ listening: server.url, ...(deskLink && { deskLink }) });
  log.info({ url: server.url, emulated: config.providers.emulated }, 'listening');
  await logAbsent(log, config, wired.deps.society);
}

async function importDemo({ database, deps }: Wired): Promise<void> {
  await importInvitations(database, demoInvitations, deps.society);
}

// If the server cannot start, prints the reason and ends the process.
await main().catch((error: unknown) => {
  if (error instanceof ConfigFaults || error instanceof SocietyFaults) refuse(error.faults);
  // An instance of Error itself (no subclass) was thrown by our code with a sentence for staff. Any other error is printed with
  // its stack trace.
  else if (error instanceof Error && error.constructor === Error) refuse([error.message]);
  else console.error(error);
  process.exit(1);
});

function refuse(sentences: readonly string[]): void {
  console.error(`Induct does not start:\n${sentences.map((sentence) => `  ${sentence}`).join('\n')}`);
}
