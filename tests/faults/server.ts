import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../apps/server/platform/config/config.ts';
import type { Database } from '../../apps/server/platform/database/client.ts';
import { migrate } from '../../apps/server/platform/database/migrate.ts';
import { createLog } from '../../apps/server/platform/http/logging.ts';
import { type PaymentProvider, stripeProvider } from '../../apps/server/providers/stripe/provider.ts';
import { run } from '../../apps/server/run.ts';
import { wire } from '../../apps/server/wire.ts';
import { type KillPoint, type ServerCall, serverCalls } from './operations.ts';

/**
 * The settings of a server process of the fault suite, in its environment variable `FAULTS`. The process runs the server of
 * apps/server/main.ts. At named points (before and after its calls to Stripe and its commits) it can be killed or made to wait.
 * The parent process arms and disarms points by IPC messages.
 */
export interface ServerSettings {
  /** How long the server waits for Stripe (ms). */
  timeoutMs: number;
  /** How much longer every commit takes (ms), as on a slow disk. Where a lock is missing, two transactions then overlap. */
  slowCommitMs: number;
  /** The file to which a line is written for each kill at a point, right before the kill. */
  killedFile: string;
  armed: Armed[];
}

/** Makes the server die or wait at a point: in a call that has `about` in its arguments, or, when `about` is null, in any call. */
export interface Armed {
  id: number;
  point: KillPoint;
  about: string | null;
  does: 'die' | 'wait';
}

/** An IPC message from the parent process. */
export interface Order {
  arm?: Armed;
  disarm?: number;
  goOn?: number;
}

const settings = JSON.parse(process.env.FAULTS!) as ServerSettings;
let { armed } = settings;

const waiting = new Map<number, () => void>();
process.on('message', ({ arm, disarm, goOn }: Order) => {
  if (arm) armed.push(arm);
  armed = armed.filter(({ id }) => id !== disarm);
  if (goOn !== undefined) waiting.get(goOn)?.();
});

const config = readConfig();
await migrate(config.databaseUrl);
const wired = await wire(config, createLog(config.logLevel));
wired.deps.payments = watched(stripeProvider({ ...config.providers.stripe, timeoutMs: settings.timeoutMs }));
watchCommits(wired.database);
watchCommits(wired.background);
const server = await run(wired, {});
process.send?.({ listening: server.url });
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
process.once('disconnect', () => process.exit(0));

/**
 * Called whenever the server reaches a point. `text` has the arguments of the call to Stripe; at a commit it is empty. If the
 * process is to die at this point, kills it with SIGKILL, so that it can neither finish nor report anything. If it is to wait,
 * waits until the parent lets it go on.
 */
async function reach(point: KillPoint, text: string): Promise<void> {
  const hit = armed.find(
    (candidate) => candidate.point === point && (candidate.about === null || text.includes(candidate.about)),
  );
  if (!hit) return;
  if (hit.does === 'wait') {
    armed = armed.filter((candidate) => candidate !== hit);
    const goesOn = new Promise<void>((goOn) => waiting.set(hit.id, goOn));
    process.send?.({ reached: hit.id });
    return goesOn;
  }
  appendFileSync(settings.killedFile, `${JSON.stringify(hit)}\n`);
  process.kill(process.pid, 'SIGKILL');
  // Loops, since nothing more may run until the SIGKILL takes effect.
  for (;;);
}

function watched(provider: PaymentProvider): PaymentProvider {
  const all = provider as unknown as Record<ServerCall, (...args: unknown[]) => unknown>;
  const watching = Object.fromEntries(
    serverCalls.map((name) => [
      name,
      (...args: unknown[]) => {
        const text = JSON.stringify(args);
        const ask = () => all[name](...args);
        return name.startsWith('list') ? listed(name, text, ask) : asked(name, text, ask);
      },
    ]),
  );
  return { ...provider, ...watching } as PaymentProvider;
}

async function asked(name: ServerCall, text: string, ask: () => unknown): Promise<unknown> {
  await reach(`${name}:before`, text);
  try {
    return await ask();
  } finally {
    await reach(`${name}:after`, text);
  }
}

async function* listed(name: ServerCall, text: string, ask: () => unknown) {
  await reach(`${name}:before`, text);
  yield* ask() as AsyncIterable<unknown>;
  await reach(`${name}:after`, text);
}

function watchCommits(database: Database): void {
  const begin = database.transaction.bind(database);
  database.transaction = () => {
    const transaction = begin();
    const execute = transaction.execute.bind(transaction);
    transaction.execute = async (work) => {
      const result = await execute(async (trx) => {
        const done = await work(trx);
        await reach('commit:before', '');
        if (settings.slowCommitMs > 0) await pause(settings.slowCommitMs);
        return done;
      });
      await reach('commit:after', '');
      return result;
    };
    return transaction;
  };
}
