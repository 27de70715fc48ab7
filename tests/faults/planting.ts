import { setTimeout as pause } from 'node:timers/promises';
import { aboutOf, type Operation, operations } from './operations.ts';
import type { Run } from './person.ts';

/**
 * Tells the Stripe emulator which of this join's requests shall fail. Called twice: first without an intent's id, for the
 * requests that are recognised by the session, and later with the id, for the requests that are recognised by the intent.
 */
export async function plantFaults({ world, person }: Run, intentId: string | null): Promise<void> {
  for (const { operation, ...fault } of person.join.faults) {
    const { method, path, names } = operations[operation];
    if ((names === 'intent') !== (intentId !== null)) continue;
    await world.addFault({ ...fault, method, path, about: aboutOf(operation, person.uuid!, intentId)! });
  }
}

/**
 * Kills a server, or ends a server's database connections, once in a join. This happens at the planned point or time. If no
 * server has reached the point when the join is over, it happens then.
 */
export class Strike {
  readonly #run: Run;
  readonly #id: number;
  readonly #kind: 'kill' | 'breakOff';
  #isAsked = false;
  #timed: Promise<void> | undefined;

  constructor(run: Run, kind: 'kill' | 'breakOff') {
    this.#run = run;
    this.#kind = kind;
    this.#id = run.nextId();
  }

  get #server() {
    return this.#run.world.servers[this.#run.person.join.server];
  }

  /**
   * Arms the planned point in both servers. Called without an intent's id at first, and again once the intent exists. If the
   * point is a commit, or a request that is recognised by its intent, only the second call arms it; otherwise only the first
   * does.
   */
  arm(intentId: string | null): void {
    const { person } = this.#run;
    const planned = person.join[this.#kind];
    if (!planned || !('point' in planned)) return;
    const { point } = planned;
    const operation = point.split(':')[0] as Operation | 'commit';
    const isAboutIntent = operation === 'commit' || operations[operation].names === 'intent';
    if (isAboutIntent !== (intentId !== null)) return;
    this.#isAsked = true;
    // If `about` is null, the server is hit at its first commit, or its first request of this kind, whichever join that is for.
    // Nobody knows in advance with which intent most of these requests will be made.
    const about = isAboutIntent && operation !== 'retrieveIntent' ? null : (intentId ?? person.uuid!);
    const { world } = this.#run;
    for (const server of world.servers) {
      const armed = { id: this.#id, point, about };
      if (this.#kind === 'kill') server.arm(armed);
      else server.holdAt(armed, () => world.breakOff(server));
    }
  }

  #strike(): Promise<void> {
    return this.#kind === 'kill' ? this.#server.kill() : this.#run.world.breakOff(this.#server);
  }

  /** If the strike is planned by time, starts its timer. Called right before Buy Now. */
  soon(): void {
    const planned = this.#run.person.join[this.#kind];
    if (!planned || !('afterMs' in planned)) return;
    this.#isAsked = true;
    this.#timed = pause(planned.afterMs).then(() => this.#strike());
  }

  /** If the strike is planned by time, waits for it. If it is planned at a point that was not reached, strikes now. */
  async now(): Promise<void> {
    const { person } = this.#run;
    const planned = person.join[this.#kind];
    if (!planned) return;
    if (this.#timed) return this.#timed;
    const isLeft = this.#run.world.servers.map((server) => server.disarm(this.#id));
    if (!this.#isAsked || isLeft.includes(true)) {
      if (this.#kind === 'kill') person.missed = 'point' in planned ? planned.point : null;
      await this.#strike();
    }
  }
}
