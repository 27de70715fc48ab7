import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { settingsFor } from '../../../../tests/harness/standIns.ts';
import { readConfig } from '../config/config.ts';
import { NO_DATABASE } from './errors.ts';
import { createLog } from './logging.ts';
import { openWaitingRoom } from './waitingRoom.ts';

const nowhere = {
  stripeUrl: 'http://127.0.0.1:9',
  hubspotUrl: 'http://127.0.0.1:9',
  smtpUrl: 'smtp://127.0.0.1:9',
};

test('a call whose body is still on its way while the database is waited for can send it, and is answered', async (t) => {
  const settings = settingsFor(nowhere, 'postgres://nobody@127.0.0.1:9/nothing', tmpdir());
  const room = await openWaitingRoom(
    readConfig({ ...settings, PORT: '0' }),
    createLog('silent'),
    'A society',
  );
  t.after(() => room.leave());
  const client = connect(room.port, '127.0.0.1');
  let answer = '';
  client.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  const piece = 'x'.repeat(64 * 1024);
  client.write(
    `POST /api/public/upload-resume HTTP/1.1\r\nhost: society.example\r\ncontent-length: ${20 * piece.length}\r\n\r\n`,
  );
  const closed = once(client, 'close');
  for (let sent = 0; sent < 20; sent++) {
    await pause(5);
    await new Promise<void>((done, fail) => client.write(piece, (error) => (error ? fail(error) : done())));
  }
  await closed;
  assert.match(answer, /^HTTP\/1\.1 503 /);
  assert.ok(answer.includes(NO_DATABASE));
});
