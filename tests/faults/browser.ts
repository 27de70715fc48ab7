import { setTimeout as pause } from 'node:timers/promises';
import { type CallName, calls, pathOf } from '#contract/calls.ts';
import type { Body } from '#contract/schemas.ts';
import type { Answered } from '../harness/testServer.ts';
import type { Person } from './person.ts';
import type { World } from './world.ts';

/** How often a person presses the same button again, and how long they wait in between (ms). */
export const PRESSES = 8;
export const PATIENCE_MS = 150;
const ANSWER_TIMEOUT_MS = 25_000;

/** Pressed again and again in vain. */
export class GaveUp extends Error {}

/** Presses until the server answers well. */
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

/** A tab of somebody's browser. It goes to the other server when one is down, as a balancer would send it. */
export class Browser {
  readonly #world: World;
  readonly #person: Person;
  readonly #cookies: Map<string, string>;
  #server: 0 | 1;

  constructor(
    world: World,
    person: Person,
    cookies = new Map<string, string>(),
    server = person.join.server,
  ) {
    this.#world = world;
    this.#person = person;
    this.#cookies = cookies;
    this.#server = server;
  }

  /** Of the same browser, at the other server. */
  otherTab(): Browser {
    return new Browser(this.#world, this.#person, this.#cookies, this.#server === 0 ? 1 : 0);
  }

  /** A call; what never reached a server, or was cut off by its end, is sent once more, as a person presses again. */
  async call<Name extends CallName>(
    name: Name,
    { params = {}, body }: { params?: Record<string, string>; body?: Body<Name> | unknown } = {},
  ): Promise<Answered<Name>> {
    for (let tries = 0; ; tries++) {
      const { servers } = this.#world;
      const preferred = servers[this.#server];
      const server = preferred.isUp && tries % 2 === 0 ? preferred : servers[this.#server === 0 ? 1 : 0];
      try {
        const headers = new Headers();
        if (this.#cookies.size > 0)
          headers.set('cookie', [...this.#cookies].map(([key, value]) => `${key}=${value}`).join('; '));
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
          this.#cookies.set(key, value);
        }
        // All that a person asks is well formed; troubles of Stripe's and of the database's are 503.
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
