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

test('a cookie holds the last ten joins that were paid or proven, and the last three that were only begun', () => {
  const { request, reply } = browser();
  const sure = Array.from({ length: 12 }, () => randomUUID());
  for (const [index, uuid] of sure.entries()) {
    cookies.giveBegan(reply, uuid);
    if (index !== 5) cookies.givePaid(reply, uuid);
    if (index !== 6) cookies.giveProven(reply, uuid);
  }
  const begun = Array.from({ length: 20 }, () => randomUUID());
  for (const uuid of begun) cookies.giveBegan(reply, uuid);
  assert.deepEqual(
    cookies.joinsOf(request).map(({ uuid }) => uuid),
<<<<<<< HEAD
    [...begun.slice(-16).reverse(), proven, paid],
=======
    [...sure.slice(-10).reverse(), ...begun.slice(-3).reverse()],
>>>>>>> read
  );
  assert.deepEqual(cookies.holdingOf(request, sure[6]!), { began: true, proven: false, paid: true });
  assert.deepEqual(cookies.holdingOf(request, begun[0]!), { began: false, proven: false, paid: false });
<<<<<<< HEAD
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
=======
>>>>>>> read
  assert.ok(request.headers.cookie!.length < 4096 - 200);
});
