import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { npmSettings, settingsOf } from '../../apps/server/platform/config/config.ts';
import { commands } from '../../apps/staff/commands.ts';
import { swallowedOptions } from '../../apps/staff/swallowedOptions.ts';
import { documentKeyIn } from './documentKey.ts';
import { startEmulators } from './emulators.ts';
import type { FolderBackup } from './folderBackup.ts';
import { readLocalFile } from './localFile.ts';
import { type Holder, readHolder, takeLock } from './lock.ts';
import { type RunningPostgres, startPostgres } from './postgres.ts';
import { lives } from './processes.ts';
import { explain, planFrom } from './settings.ts';

/**
 * `npm run operator -- …`: runs the staff command line with the database and emulators of a running `npm start`. If none runs,
 * starts them for the command.
 */

const args = process.argv.slice(2);
const program = resolve(import.meta.dirname, '../../apps/staff/operator.ts');
/** Whether the command only prints help or a refusal, so that nothing needs to be started. */
const isAnsweredAlone =
  args.length === 0 ||
  args[0] === 'help' ||
  args.some((arg) => arg === '--help' || arg === '-h') ||
  swallowedOptions(commands, npmSettings()).length > 0;

/** Functions that stop what was started, in the order of starting. */
const stops: (() => Promise<void> | void)[] = [];
let code = 1;
try {
  code = isAnsweredAlone ? await run({}) : await runInSurroundings();
} catch (error) {
  console.error(explain(error));
}
for (const stop of stops.reverse()) await stop();
process.exit(code);

/** Runs the command with the database and emulators that it needs. Starts those that are not running. */
async function runInSurroundings(): Promise<number> {
  const { config, bringsDatabase, bringsStripe, bringsHubspot, bringsMail, bringsDocumentKey } = planFrom(
    settingsOf(args[0]),
  );
  const { dataDir } = config;
  if (!bringsDatabase && !bringsStripe && !bringsHubspot && !bringsMail) return run({});
  // Loaded for these commands alone, because it loads most of the server.
  const folders =
    bringsDatabase && ['backup', 'restore'].includes(args[0]!) ? await import('./folderBackup.ts') : null;
  const byFolder = (await folders?.folderBackupIn(args)) ?? null;

  const holder = readHolder(dataDir);
  let found = readLocalFile(dataDir);
  const env = () => ({
    DATA_DIR: dataDir,
    ...(bringsDatabase && { DATABASE_URL: found!.database.url }),
    ...(bringsStripe && found!.stripe && { STRIPE_EMULATOR_URL: found!.stripe.url }),
    ...(bringsHubspot && found!.hubspot && { HUBSPOT_EMULATOR_URL: found!.hubspot.url }),
    ...(bringsMail && found!.mail && { MAIL_EMULATOR_URL: found!.mail.smtpUrl }),
    ...(bringsDocumentKey && { DOCUMENT_KEY: documentKeyIn(dataDir) }),
    ...(!config.desk && found!.desk && { DESK_URL: found!.desk.url }),
  });
  const allSettings = () => ({ ...settingsOf(args[0]), ...env() });
  if (!(holder && lives(holder) && found && isStart(holder.command))) {
    const lock = await takeLock(dataDir, 'npm run operator');
    stops.push(() => lock.release());
    const before = found;
    found = { server: { url: '' }, database: { url: config.databaseUrl } };
    if (bringsStripe || bringsHubspot || bringsMail) {
      const { child, stripe, hubspot, mail } = await startEmulators({
        dataDir,
        before,
        started: (started) => {
          stops.push(() => started.stop());
          if (started.process.pid) lock.addChild(started.process.pid);
        },
      });
      void child.ended;
      found = { ...found, stripe, hubspot, mail };
    }
    if (byFolder?.kind === 'restore') {
      if (!(await folders!.restoreFolder(byFolder, allSettings(), dataDir))) return 1;
      await database();
      return statusOf(await folders!.afterRestore(allSettings()));
    }
    if (bringsDatabase) {
      const postgres = await database();
      if (byFolder) return statusOf(await folders!.backUpFolder(byFolder, allSettings(), dataDir, postgres));
    }
  } else if (byFolder) throw new Error(stopFirst(byFolder, holder));
  return run(env());

  async function database(): Promise<RunningPostgres> {
    const postgres = await startPostgres({ dataDir });
    stops.push(() => postgres.stop());
    found!.database.url = postgres.url;
    return postgres;
  }
}

function stopFirst({ because }: FolderBackup, { command, pid }: Holder): string {
  return `${because}\nSo the database must be stopped: end \`${command}\` (process ${pid}) first, and give the command again.`;
}

function statusOf(isDone: boolean): number {
  return isDone ? 0 : 1;
}

function isStart(command: string): boolean {
  return command !== 'npm run operator';
}

function run(env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  // The command decides when to end; this process stays to clean up after it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done) => {
    child.once('error', () => done(1));
    child.once('exit', (status) => done(status ?? 1));
  });
}
