import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Fault, Faults } from './faults.ts';
import type { Ledger } from './ledger.ts';

export interface Answer {
  status: number;
  body: object | undefined;
  headers?: Record<string, string>;
}

interface Gateway {
  faults: Faults;
  ledger: Ledger;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Names of the request headers that are recorded with each request (ledger.ts). */
  noted: readonly string[];
  /** Returns the provider's error body for a fault that sets a `status` but no body. */
  faultBody: (status: number) => object;
}

/** What a provider has stored about a request that its client may repeat, for example under the same idempotency key. */
export interface Remembered {
  /**
   * Whether the provider has already answered this request. If so, it repeats that answer without doing the work again. The
   * request can then have a fault of the network (`cut`, `hang`, `slow`, …), but none that changes the status.
   */
  isAnswered: () => boolean;
  /** Stores a failure as the answer to repetitions of the request. */
  keep: (failure: Answer) => void;
}

/**
 * Answers a request by running `work`, which performs the request synchronously and returns the answer, unless a matching fault
 * changes that. Records the request, so that tests can list it. `finished` is called when the answer was sent or the connection
 * has ended.
 */
export async function passThrough(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  params: unknown,
  work: () => Answer,
  { remembered, finished = () => {} }: { remembered?: Remembered | undefined; finished?: () => void } = {},
): Promise<void> {
  const path = request.url.split('?', 1)[0]!;
  const key = request.headers['idempotency-key'];
  const fault = gateway.faults.take(
    request.method,
    path,
    `${request.url} ${key ?? ''} ${JSON.stringify(params)}`,
    remembered?.isAnswered() ? (kind) => !kind.startsWith('status') : undefined,
  );
  const time = gateway.clock();
  const note = (status: number | null): void =>
    gateway.ledger.record({
      method: request.method,
      path,
      params,
      idempotencyKey: (key as string | undefined) ?? null,
      status,
      headers: Object.fromEntries(
        gateway.noted.flatMap((name) =>
          request.headers[name] ? [[name, String(request.headers[name])]] : [],
        ),
      ),
      time,
    });
  try {
    if (fault?.kind === 'slow') await wait(fault.ms ?? 1_000);
    const before = fault?.kind === 'cut' || fault?.kind === 'hang' || fault?.kind === 'status';
    const answer = before ? undefined : work();
    if (fault?.kind === 'status' || fault?.kind === 'status_after') {
      const failure = faultAnswer(gateway, fault);
      if (isKept(failure)) remembered?.keep(failure);
      note(send(reply, failure));
    } else if (fault?.kind === 'cut' || fault?.kind === 'cut_after') {
      note(null);
      reply.hijack();
      request.raw.socket.destroy();
    } else if (fault?.kind === 'hang' || fault?.kind === 'hang_after') {
      note(null);
      reply.hijack();
      await new Promise<void>((resolve) => {
        if (request.raw.socket.destroyed) resolve();
        else request.raw.socket.once('close', () => resolve());
      });
    } else note(send(reply, answer!));
  } finally {
    finished();
  }
}

/**
 * Whether the answer of a fault is stored under the request's idempotency key. Stripe stores its own failures (5xx), and 402,
 * with which it refuses a valid request after its work has begun. A fault with any other status imitates a refusal before the
 * work begins, which Stripe does not store.
 */
function isKept({ status }: Answer): boolean {
  return status >= 500 || status === 402;
}

function faultAnswer(gateway: Gateway, fault: Fault): Answer {
  const status = fault.status ?? 500;
  return {
    status,
    body: (fault.body as object | undefined) ?? gateway.faultBody(status),
    ...(fault.headers && { headers: fault.headers }),
  };
}

function send(reply: FastifyReply, answer: Answer): number {
  reply.code(answer.status).headers(answer.headers ?? {});
  if (answer.body === undefined) reply.send();
  else reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body));
  return answer.status;
}
