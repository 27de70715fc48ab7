import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../../local/ports.ts';
import { describeMachine } from '../accounting/machine.ts';
import { spreadOf } from '../accounting/numbers.ts';
import { spread, table } from '../report/table.ts';
import { atMost, verdictTable } from '../report/verdicts.ts';
import type { Scope } from '../scope.ts';
import { makeOurDatabase, startOurs } from '../servers.ts';
import { untilAnswered } from '../untilAnswered.ts';
import { type Bench, innerWorld, startWorld, type World } from '../world.ts';

const root = resolve(import.meta.dirname, '../..');

/** From the command to the first page: on an empty folder, on that of last time, and the server process alone. */
export async function benchmarkStart(bench: Bench): Promise<string> {
  const { options, say } = bench;
  const world = await startWorld(bench);
  const database = await makeOurDatabase(world, 'ours');
  // So that it was compiled once, as at every start but the first.
  await serverAlone(world, database);
  const [fresh, again, alone, listening]: number[][] = [[], [], [], []];
  for (let round = 1; round <= options.repeat; round++) {
    const dataDir = join(bench.folder, 'data');
    rmSync(dataDir, { recursive: true, force: true });
    fresh!.push(await npmStart(bench.scope, dataDir));
    again!.push(await npmStart(bench.scope, dataDir));
    const server = await serverAlone(world, database);
    alone!.push(server.answered);
    listening!.push(server.listening);
    say(
      `round ${round}: npm start ${Math.round(fresh!.at(-1)!)} ms, again ${Math.round(again!.at(-1)!)} ms; the server alone ${Math.round(server.answered)} ms`,
    );
  }
  const row = (what: string, ms: number[]) => [what, spread(spreadOf(ms))];
  return [
    '## Start',
    '',
    await describeMachine(database.client),
    '',
    verdictTable([atMost('the server process alone, to its first answer (ms)', 500, spreadOf(alone!))]),
    '',
    'With the packages installed, everything built, and the server started once.',
    '',
    table(
      ['', 'ms'],
      [
        row('`npm start` on an empty folder, to the first page', fresh!),
        row('`npm start` again, to the first page', again!),
        row('the server process, until it listens', listening!),
        row('the server process, to its first answer', alone!),
      ],
    ),
  ].join('\n');
}

/** What somebody waits who types it (ms). */
async function npmStart(scope: Scope, dataDir: string): Promise<number> {
  const { PATH, HOME } = process.env;
  const port = String(await freePort());
  const command = spawn('npm', ['start', '--silent'], {
    cwd: root,
    env: { PATH, HOME, DATA_DIR: dataDir, PORT: port },
    // A group of its own, which Ctrl-C is sent to as a terminal would.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [command.stdout, command.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = new Promise<void>((done) => command.once('close', () => done()));
  const inner = scope.inner();
  inner.onEnd(async () => {
    if (command.exitCode === null) process.kill(-command.pid!, 'SIGINT');
    await ended;
  });
  const ms = await untilAnswered(`http://127.0.0.1:${port}/`, () => {
    if (command.exitCode !== null) throw new Error(`npm start ended:\n${output}`);
    scope.signal.throwIfAborted();
  });
  await inner.end();
  return ms;
}

/** The server's own program, where its database and the stand-ins run already (ms). */
async function serverAlone(
  world: World,
  database: Awaited<ReturnType<typeof makeOurDatabase>>,
): Promise<{ listening: number; answered: number }> {
  const inner = innerWorld(world);
  let began = 0;
  const { urls, listening } = await startOurs(inner, database, {
    starting() {
      began = performance.now();
    },
  });
  await untilAnswered(`${urls[0]}/`);
  const answered = performance.now() - began;
  await inner.end();
  return { listening: listening - began, answered };
}
