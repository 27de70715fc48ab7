import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { browserCookie } from './browserCookie.ts';

const cookies = browserCookie(['a secret'], false);

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

test('a cookie holds the last ten joins that were paid or proven, and the last sixteen that were only begun', () => {
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
    [...sure.slice(-10).reverse(), ...begun.slice(-16).reverse()],
  );
  assert.deepEqual(cookies.holdingOf(request, sure[6]!), { began: true, proven: false, paid: true });
  assert.deepEqual(cookies.holdingOf(request, begun[0]!), { began: false, proven: false, paid: false });
  assert.ok(request.headers.cookie!.length < 4096 - 200);
});
