import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Scope } from '../../tests/harness/scope.ts';
import { buildAll } from '../../tools/local/builds.ts';
import { takeLock } from '../../tools/local/lock.ts';
import { startPostgres } from '../../tools/local/postgres.ts';
import { whenOrphaned } from '../../tools/local/processes.ts';
import { explain } from '../../tools/local/settings.ts';
import { benchmarkAbuse } from './benchmarks/abuse.ts';
import { benchmarkBrowser } from './benchmarks/browser.ts';
import { benchmarkGrowth } from './benchmarks/growth.ts';
import { benchmarkRush } from './benchmarks/rush.ts';
import { benchmarkServer } from './benchmarks/server.ts';
import { benchmarkSoak } from './benchmarks/soak.ts';
import { benchmarkStrangers } from './benchmarks/strangers.ts';
import { benchmarkUploads } from './benchmarks/uploads.ts';
import { type BenchmarkName, names, readOptions } from './options.ts';
import { keepSection, type Section } from './report.ts';
import type { Bench } from './world.ts';

/**
 * `npm run lab -- bench`: measures Induct, compares it with the minimal programs in floor/, and writes the results, a section for each
 * benchmark.
 */

const benchmarks: Record<BenchmarkName, (bench: Bench) => Promise<Section>> = {
  server: benchmarkServer,
  growth: benchmarkGrowth,
  rush: benchmarkRush,
  browser: benchmarkBrowser,
  uploads: benchmarkUploads,
  strangers: benchmarkStrangers,
  abuse: benchmarkAbuse,
  soak: benchmarkSoak,
};

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'out/bench');
const abort = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => abort.abort(new Error(`Ended by ${name}.`)));
whenOrphaned(() => abort.abort(new Error('The process that started this was killed.')));

try {
  await main();
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (process.platform !== 'linux')
    throw new Error('The benchmarks read processor time from /proc: they run on Linux only.');
  const lock = await takeLock(folder, 'npm run lab -- bench');
  const everything = new Scope(abort.signal, (pid) => lock.addChild(pid));
  everything.onEnd(() => lock.release());
  const ended = new Promise<never>((_, reject) =>
    abort.signal.addEventListener('abort', () => reject(abort.signal.reason)),
  );
  try {
    if (lock.afterCrash) await clearLeftovers();
    await buildAll({ signal: abort.signal, building: (name) => console.log(`Building ${name} …`) });
    for (const name of options.benchmarks) {
      console.log(`\n── ${name}`);
      const scope = everything.inner();
      const own = join(folder, name);
      rmSync(own, { recursive: true, force: true });
      mkdirSync(own, { recursive: true, mode: 0o700 });
      scope.onEnd(() => rmSync(own, { recursive: true, force: true }));
      const bench: Bench = { options, scope, folder: own, say: (line) => console.log(line) };
      const { kept, details } = await Promise.race([benchmarks[name](bench), ended]);
      await scope.end();
      keepSection(resolve(root, options.out), name, kept);
      console.log(`\n${kept}\n\n${details}\n\nWithout its tables this is written to ${options.out}.`);
    }
  } finally {
    await everything.end();
  }
}

/** Removes what a killed run left: its files, and its PostgreSQL if that still runs without users. */
async function clearLeftovers(): Promise<void> {
  for (const name of names) {
    const dataDir = join(folder, name, 'database');
    if (existsSync(join(dataDir, 'postgres'))) await (await startPostgres({ dataDir })).stop();
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}
