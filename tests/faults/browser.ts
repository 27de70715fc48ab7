import { setTimeout as pause } from 'node:timers/promises';
import { type CallName, calls, pathOf } from '#contract/calls.ts';
import type { Body } from '#contract/schemas.ts';
import type { Answered } from '../harness/testServer.ts';
import type { Person } from './person.ts';
import type { World } from './world.ts';

/** The most presses of one button by a person. */
export const PRESSES = 8;
/** How long a person waits between two presses of a button (ms). */
export const PATIENCE_MS = 150;
const ANSWER_TIMEOUT_MS = 25_000;

/** Thrown when a button was pressed {@link PRESSES} times without success. */
export class GaveUp extends Error {}

/** Presses a button until its call succeeds. Throws {@link GaveUp} after {@link PRESSES} tries. */
export async function press<Name extends CallName>(
  tab: Browser,
  name: Name,
  options: { params?: Record<string, string>; body?: Body<Name> | unknown },
): Promise<Answered<Name>> {
  for (let tries = 1; ; tries++) {
    const answer = await tab.call(name, options);
    if (answer.status < 300) return answer;
    if (tries === PRESSES) throw new GaveUp(`${name}: ${answer.status} ${answer.message}`);
    await pause(PATIENCE_MS);
  }
}

/**
 * A tab of a person's browser. It calls one of the two servers. While that server is down, and at every second try, it calls the
 * other server instead, as a load balancer would.
 */
export class Browser {
  readonly #world: World;
  readonly #person: Person;
  #server: 0 | 1;

  constructor(world: World, person: Person, server = person.join.server) {
    this.#world = world;
    this.#person = person;
    this.#server = server;
  }

  /** Returns a tab of the same browser that uses the other server. */
  otherTab(): Browser {
    return new Browser(this.#world, this.#person, this.#server === 0 ? 1 : 0);
  }

  /**
   * Makes a call. When no complete answer arrives (no server was reached, the server died, or a timeout), sends the call again, up
   * to 41 times, as if the person pressed again.
   */
  async call<Name extends CallName>(
    name: Name,
    { params = {}, body }: { params?: Record<string, string>; body?: Body<Name> | unknown } = {},
  ): Promise<Answered<Name>> {
    const { cookies } = this.#person;
    for (let tries = 0; ; tries++) {
      const { servers } = this.#world;
      const preferred = servers[this.#server];
      const server = preferred.isUp && tries % 2 === 0 ? preferred : servers[this.#server === 0 ? 1 : 0];
      try {
        const headers = new Headers();
        if (cookies.size > 0)
          headers.set('cookie', [...cookies].map(([key, value]) => `${key}=${value}`).join('; '));
        if (body !== undefined) headers.set('content-type', 'application/json');
        const response = await fetch(server.url + pathOf(name, params), {
          method: calls[name].method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        });
        const answer = (await response.json()) as Record<string, unknown>;
        for (const line of response.headers.getSetCookie()) {
          const [key, value] = line.split(';')[0]!.split('=') as [string, string];
          cookies.set(key, value);
        }
        // A person's calls are always valid, and failures of Stripe and the database are answered with 503. So 400 and 500 are
        // defects of ours.
        if (response.status === 400 || response.status === 500)
          this.#person.complaints.push(`${name} was answered ${response.status}: ${String(answer.message)}`);
        return {
          status: response.status,
          headers: response.headers,
          data: answer.data as never,
          message: answer.message as string | undefined,
          errors: undefined,
          goOn: answer.goOn as string | undefined,
          body: answer,
        };
      } catch (error) {
        if (tries > 40) throw error;
        await Promise.race([servers[0].up(), servers[1].up()]);
        await pause(100);
      }
    }
  }
}
