import { closedLoop } from '../load.ts';
import { flatMemory, sampleMemory } from '../measure.ts';
import { figure, megabytes, type Section, section } from '../report.ts';
import { makeOurDatabase, startOurs } from '../subjects.ts';
import { type Bench, startWorld } from '../world.ts';

const CONCURRENCY = 64;
/**
 * The length of one part of the load (s). Right before each part, the people who will join in it are written into the mirror. If
 * all people were written at the beginning, their contacts would be out of date when the last of them join, and the server would
 * read those contacts from HubSpot again.
 */
const PIECE_SECONDS = 20;
/** A number of joins per second that no server reaches. It determines how many people are invited. */
const FASTEST = 1200;

/**
 * The benchmark `soak`: keeps the server fully loaded for minutes, while it also sends the joins to HubSpot. Memory must not
 * grow.
 */
export async function benchmarkSoak(bench: Bench): Promise<Section> {
  const { options, say } = bench;
  const minutes = options.minutes ?? 10;
  const world = await startWorld(bench);
  const pieces = Math.ceil((minutes * 60) / PIECE_SECONDS);
  const inPiece = PIECE_SECONDS * FASTEST;
  const ours = await startOurs(world, await makeOurDatabase(world), { known: inPiece * pieces });

  const memory = sampleMemory(ours.pid);
  world.scope.onEnd(() => memory.stop());
  const rates: number[] = [];
  for (let piece = 1; piece <= pieces; piece++) {
    const nextPerson = await ours.people(inPiece);
    const how = { concurrency: CONCURRENCY, warmUpMs: 0, measureMs: PIECE_SECONDS * 1000 };
    const { joins, seconds } = await closedLoop(ours.flow, nextPerson, how);
    rates.push(joins / seconds);
    say(
      `${piece} of ${pieces}: ${figure(joins / seconds)} joins/s, ${megabytes(memory.samples.at(-1) ?? 0)}`,
    );
  }
  memory.stop();
  const { samples } = memory;
  return section(
    'Soak',
    [flatMemory(samples, `${minutes} minutes of full load`)],
    `Joins up to their order, ${CONCURRENCY} at a time, with the writes to HubSpot. Joins/s at first ${figure(rates[0]!)}, at last ${figure(rates.at(-1)!)}. Most memory: ${megabytes(Math.max(...samples))}.`,
  );
}
