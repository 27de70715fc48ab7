import { provide } from './needs.ts';

/**
 * `npm run lab -- cluster`: runs the drill against a database cluster on simulated machines. The environment variable SEED decides
 * the order and the timing of the faults. It is any whole number, and random when absent.
 */

const LONGEST_MS = 900_000;

const lacking = provide(console.log);
if (lacking !== null) {
  console.error(lacking);
  process.exit(1);
}
const given = process.env.SEED?.trim();
if (given && !/^\d+$/.test(given)) {
  console.error(`SEED must be a whole number, not "${given}".`);
  process.exit(1);
}
const seed = given ? Number(given) : Math.floor(Math.random() * 1_000_000);
console.log(`SEED=${seed}`);

const abort = new AbortController();
// Ctrl-C sends SIGINT twice: from the terminal, and again from the parent process. With `once` instead of `on`, the second
// signal would kill this process before it has stopped what it started.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => abort.abort(new Error(`ended by ${signal}`)));
const late = setTimeout(() => abort.abort(new Error('it took longer than 15 minutes')), LONGEST_MS);
try {
  const { runDrill } = await import('./drill.ts');
  const differences = await runDrill(seed, console.log, abort.signal);
  for (const text of differences) console.log(`✖ ${text}`);
  console.log(differences.length === 0 ? 'Nothing is lost.' : `${differences.length} differences`);
  process.exitCode = differences.length === 0 ? 0 : 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  clearTimeout(late);
  // Timers and connections of an aborted drill would keep the process alive.
  process.exit();
}
