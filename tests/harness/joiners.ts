import { setTimeout as pause } from 'node:timers/promises';
import { paidJoin, reportPayment } from './steps.ts';
import { browser, type Client, type TestServer } from './testServer.ts';

/** How long a person waits before pressing again (ms). */
const AGAIN_MS = 300;

/**
 * A failed call. If `isOurs` is true, our server answered it, and `text` is the answer. Otherwise `text` is the error of the
 * connection or the answer of a proxy.
 */
export interface Failure {
  call: string;
  text: string;
  isOurs: boolean;
  /** When the call was made, and when it failed (ms, `performance.now`). */
  from: number;
  to: number;
}

export interface Joiners {
  /** The failures since the list was last emptied. */
  failures: Failure[];
  /** The payment intents of the people whose page said that they are members. */
  readonly joined: string[];
  /** The statuses, other than `succeeded`, that the server gave to people who returned from paying. */
  readonly undecided: string[];
  /** Rejects when a person cannot continue. */
  readonly broken: Promise<never>;
  /** Waits until everybody has finished their current join. */
  finish(): Promise<void>;
  /** Stops everybody as soon as they wait before they press again. */
  leave(): void;
}

/** Starts `count` people at the same time. Each makes one join after another, and repeats a failed call until it succeeds. */
export function startJoiners(
  server: TestServer,
  url: string,
  count: number,
  afterwards: (client: Client, uuid: string) => Promise<unknown> = async () => {},
): Joiners {
  const left = new AbortController();
  const joined: string[] = [];
  let isOver = false;
  const people = Array.from({ length: count }, async (_, lane) => {
    for (let number = 0; !isOver; number++) {
      const client = persistent(browser(url));
      const { uuid, intentId, clientSecret } = await paidJoin(server, client, undefined, {
        firstName: `Jordan ${'IVX'[lane % 3]}${lane}`,
        lastName: `Rivera ${number}`,
        personalEmail: `joiner.${lane}.${number}@example.com`,
      });
      // Reports again while the payment is processing, as the page does. The server asks Stripe at most once a second, and
      // otherwise answers from its own rows.
      const report = () => reportPayment(client, uuid, { id: intentId, clientSecret });
      while ((await report()).data.status !== 'succeeded')
        await pause(AGAIN_MS, undefined, { signal: left.signal });
      joined.push(intentId);
      await afterwards(client, uuid);
    }
  });
  const all = Promise.all(people);
  const broken = all.then(() => new Promise<never>(() => {}));
  // Prevents an unhandled rejection until the caller awaits `broken`.
  broken.catch(() => {});
  const joiners: Joiners = {
    failures: [],
    joined,
    undecided: [],
    broken,
    async finish() {
      isOver = true;
      await all;
    },
    leave: () => left.abort(),
  };
  return joiners;

  function persistent(client: Client): Client {
    const failed = (call: string, text: string, isOurs: boolean, from: number) =>
      joiners.failures.push({ call, text, isOurs, from, to: performance.now() });
    return {
      cookie: client.cookie,
      async call(name, options) {
        for (;;) {
          const from = performance.now();
          const answered = await client.call(name, options).catch(({ message }: Error) => message);
          if (typeof answered === 'string') failed(name, answered, false, from);
          else if (answered.status === 200) {
            const { status } = { ...(answered.data as { status?: string }) };
            if (name === 'postPayment' && status !== 'succeeded') joiners.undecided.push(status!);
            return answered;
          } else failed(name, answered.message!, true, from);
          await pause(AGAIN_MS, undefined, { signal: left.signal });
        }
      },
      async fetch(path, init) {
        for (;;) {
          const from = performance.now();
          const answered = await client.fetch(path, init).catch(({ message }: Error) => message);
          if (typeof answered === 'string') failed(path, answered, false, from);
          else if (answered.ok) return answered;
          else {
            const text = await answered.text();
            failed(path, text, text.startsWith('{'), from);
          }
          await pause(AGAIN_MS, undefined, { signal: left.signal });
        }
      },
    };
  }
}
