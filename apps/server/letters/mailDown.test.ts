import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { createLog } from '../platform/http/logging.ts';
import { sendDue } from './sendLetters.ts';

const server = await sharedServer();

for (const [at, status] of [
  ['rcpt', 421],
  ['data', 421],
  ['rcpt', 530],
] as const)
  test(`a log has no address where the mail server answers ${status} with one at ${at}`, async () => {
    const email = `logged.${at}.${status}@example.com`;
    await paidJoin(server, server.client(), undefined, { personalEmail: email });
    await server.mailFault({ kind: 'status', at, status, message: `4.7.0 <${email}> is not taken now` });
    const lines: string[] = [];
    const log = createLog('debug', { write: (line) => void lines.push(line) });
    const deps = { ...server.deps, database: server.background, log };
    assert.equal(await sendDue(deps, server.deps.config.mail!), false);
    assert.doesNotMatch(lines.join(''), /@/);
    const told = lines.map((line) => JSON.parse(line)).find(({ provider }) => provider === 'Mail');
    assert.equal(told.code, String(status));
  });
