import { setTimeout as pause } from 'node:timers/promises';
import { aboutOf, type Operation, operations } from './operations.ts';
import type { Run } from './person.ts';

/** The faults of this join's plan, as far as it is known by now what its requests will have in them. */
export async function plantFaults({ world, person }: Run, intentId: string | null): Promise<void> {
  for (const { operation, ...fault } of person.join.faults) {
    const { method, path, names } = operations[operation];
    if ((names === 'intent') !== (intentId !== null)) continue;
    await world.addFault({ ...fault, method, path, about: aboutOf(operation, person.uuid!, intentId)! });
  }
}

/** The kill of a join's plan: where it is named, and at the latest when the join is over. */
export class Killing {
  readonly #run: Run;
  readonly #id: number;
  #isAsked = false;
  #timed: Promise<void> | undefined;

  constructor(run: Run) {
    this.#run = run;
    this.#id = run.nextId();
  }

  get #server() {
    return this.#run.world.servers[this.#run.person.join.server];
  }

  /** As soon as what the point is about has a name. */
  arm(intentId: string | null): void {
    const { person } = this.#run;
    const { kill } = person.join;
    if (!kill || !('point' in kill)) return;
    const operation = kill.point.split(':')[0] as Operation | 'commit';
    const isAboutIntent = operation === 'commit' || operations[operation].names === 'intent';
    if (isAboutIntent !== (intentId !== null)) return;
    this.#isAsked = true;
    // Which of two payments goes back, which intent is cancelled, and whose commit it is, is not known before.
    const about = isAboutIntent && operation !== 'retrieveIntent' ? null : (intentId ?? person.uuid!);
    for (const server of this.#run.world.servers) server.arm({ id: this.#id, point: kill.point, about });
  }

  /** So long after Buy Now. */
  soon(): void {
    const { kill } = this.#run.person.join;
    if (!kill || !('afterMs' in kill)) return;
    this.#isAsked = true;
    this.#timed = pause(kill.afterMs).then(() => this.#server.kill());
  }

  /** A point that was not come by: the kill is made all the same. */
  async now(): Promise<void> {
    const { kill } = this.#run.person.join;
    if (!kill) return;
    if (this.#timed) return this.#timed;
    const isLeft = this.#run.world.servers.map((server) => server.disarm(this.#id));
    if (!this.#isAsked || isLeft.includes(true)) {
      this.#run.person.missed = 'point' in kill ? kill.point : null;
      await this.#server.kill();
    }
  }
}
