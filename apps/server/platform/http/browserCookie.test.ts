import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { browserCookie } from './browserCookie.ts';

const cookies = browserCookie(['a secret'], false);

/** A browser that keeps the cookie. */
function browser() {
  const request = { headers: {} } as FastifyRequest;
  const reply = {
    request,
    header(_: string, value: string) {
      request.headers.cookie = value.split(';')[0]!;
    },
  } as unknown as FastifyReply;
  return { request, reply };
}

test('a join that was only begun takes the place of no join that was paid or proven', () => {
  const { request, reply } = browser();
  const [paid, proven] = [randomUUID(), randomUUID()];
  cookies.giveBegan(reply, paid);
  cookies.givePaid(reply, paid);
  cookies.giveProven(reply, proven);
  const begun = Array.from({ length: 20 }, () => randomUUID());
  for (const uuid of begun) cookies.giveBegan(reply, uuid);
  assert.deepEqual(
    cookies.joinsOf(request).map(({ uuid }) => uuid),
    [...begun.slice(-16).reverse(), proven, paid],
  );
  assert.deepEqual(cookies.holdingOf(request, paid), { began: true, proven: false, paid: true });
  assert.deepEqual(cookies.holdingOf(request, begun[0]!), { began: false, proven: false, paid: false });
});

test('the last ten joins that were paid fit into the cookie, with sixteen that were begun', () => {
  const { request, reply } = browser();
  const paid = Array.from({ length: 12 }, () => randomUUID());
  for (const uuid of paid) {
    cookies.giveBegan(reply, uuid);
    cookies.giveProven(reply, uuid);
    cookies.givePaid(reply, uuid);
  }
  const begun = Array.from({ length: 16 }, () => randomUUID());
  for (const uuid of begun) cookies.giveBegan(reply, uuid);
  assert.deepEqual(
    cookies.joinsOf(request).map(({ uuid }) => uuid),
    [...begun.reverse(), ...paid.slice(-10).reverse()],
  );
  assert.ok(request.headers.cookie!.length < 4096 - 200);
});
