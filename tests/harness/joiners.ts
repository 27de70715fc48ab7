import { setTimeout as pause } from 'node:timers/promises';
import { paidJoin, reportPayment } from './steps.ts';
import { browser, type Client, type TestServer } from './testServer.ts';

/** After which a person presses again (ms). */
const AGAIN_MS = 300;

/** What stood in the way of a call: a sentence of ours, or nothing that we said. */
export interface Failure {
  call: string;
  text: string;
  isOurs: boolean;
  /** When the call was made, and when it failed (ms, `performance.now`). */
  from: number;
  to: number;
}

export interface Joiners {
  /** What failed since it was last emptied. */
  failures: Failure[];
  /** The payment intents of those who were told that they are members. */
  readonly joined: string[];
  /** How payments that were made stood to those who came back and were not told yet that they succeeded. */
  readonly undecided: string[];
  /** Rejects when one of them cannot go on. */
  readonly broken: Promise<never>;
  /** Lets everybody finish the join that they are at. */
  finish(): Promise<void>;
  /** Ends them where they are. */
  leave(): void;
}

/** So many people at the same time, one join after another; each presses again until a call is done. */
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
      // As the page does while its payment is under way: what was asked within a second is answered by what is recorded.
      const report = () => reportPayment(client, uuid, { id: intentId, clientSecret });
      while ((await report()).data.status !== 'succeeded')
        await pause(AGAIN_MS, undefined, { signal: left.signal });
      joined.push(intentId);
      await afterwards(client, uuid);
    }
  });
  const all = Promise.all(people);
  const broken = all.then(() => new Promise<never>(() => {}));
  // It is thrown to whoever waits for it.
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
