import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { nothingHere } from '../../platform/http/errors.ts';
import type { Answer } from '../../providers/answer.ts';
import type { Deps } from '../deps.ts';

/**
 * How a call arrived:
 * - `address`: the caller's address, as the server determines it.
 * - `peer`: the address of the other end of the connection, which is the caller or a proxy.
 * - `forwarded`: the received X-Forwarded-For header.
 */
const arrivalShape = z.object({ address: z.string(), peer: z.string(), forwarded: z.string().nullable() });
export type Arrival = z.infer<typeof arrivalShape>;

const PATH = '/api/doctor/arrival';
const HEADER = 'x-induct-doctor';
/** The maximum difference between a token's time and the server's clock, in either direction (ms). */
const TOKEN_MS = 120_000;
const TIMEOUT_MS = 5_000;
/** An address for documentation (RFC 5737), which no caller has. The doctor claims it in X-Forwarded-For, as an attacker would. */
export const CLAIMED_ADDRESS = '192.0.2.1';

/** Returns a token that proves knowledge of `secret`. It is valid for two minutes. */
export function doctorToken(secret: string, at: Date): string {
  const time = String(at.getTime());
  return `${time}.${createHmac('sha256', secret).update(`doctor\n${time}`).digest('base64url')}`;
}

export function isDoctorToken(secret: string, token: string, now: Date): boolean {
  const [time = ''] = token.split('.');
  if (!/^\d{1,15}$/.test(time) || Math.abs(Number(time) - now.getTime()) > TOKEN_MS) return false;
  const expected = Buffer.from(doctorToken(secret, new Date(Number(time))));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Serves a path that returns to the doctor how the doctor's own call arrived. Calls without a valid token get 404. */
export function serveArrival(app: FastifyInstance, deps: Deps): void {
  app.get(PATH, { schema: { hide: true } }, (request, reply) => {
    const token = request.headers[HEADER];
    if (typeof token !== 'string' || !deps.isDoctor(token)) return nothingHere(request, reply);
    const arrival: Arrival = {
      address: request.ip,
      peer: request.socket.remoteAddress ?? '',
      forwarded: request.headers['x-forwarded-for']?.toString() ?? null,
    };
    return reply.send(arrival);
  });
}

/** Calls the public URL with a false X-Forwarded-For, as an attacker would. Returns how that call arrived. */
export async function askArrival(publicUrl: string, secret: string): Promise<Answer<Arrival>> {
  try {
    const response = await fetch(publicUrl + PATH, {
      headers: { [HEADER]: doctorToken(secret, new Date()), 'x-forwarded-for': CLAIMED_ADDRESS },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status } = response;
    const answer = await response.text();
    if (status !== 200) return { refused: { status, message: `it answers ${status}` } };
    const arrival = arrivalShape.safeParse(jsonOf(answer));
    return arrival.success
      ? { said: arrival.data }
      : { refused: { status, message: 'it answers something else' } };
  } catch (error) {
    const { cause, message } = error as Error;
    return { down: cause instanceof Error && cause.message ? cause.message : message };
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
