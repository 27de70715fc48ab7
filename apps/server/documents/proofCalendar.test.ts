import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proofCalendarPath } from '#contract/calls.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { proofCalendar } from './proofCalendar.ts';

const server = await sharedServer();
const { society, config } = server.deps;
const entry = (name: string) =>
  proofCalendar(
    {
      society: { ...society, society: { ...society.society, name } },
      config: { ...config, publicUrl: 'https://join.society.example:8443' },
    },
    '2026-12-29',
  );

test('the calendar entry is a whole day with a reminder, and names nobody', async () => {
  const answer = await fetch(server.url + proofCalendarPath('2026-12-29'));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/calendar; charset=utf-8');
  assert.match(answer.headers.get('content-disposition')!, /attachment; filename="proof-is-due\.ics"/);
  const lines = (await answer.text()).split('\r\n');
  assert.equal(lines[0], 'BEGIN:VCALENDAR');
  for (const line of ['DTSTART;VALUE=DATE:20261229', 'TRIGGER:-P3D', 'END:VCALENDAR'])
    assert.ok(lines.includes(line), line);
  assert.ok(entry('Society').includes('UID:proof-20261229@join.society.example\r\n'));
});

test('there is no entry of what is no day', async () => {
  for (const day of ['2026-02-30', 'tomorrow', '20261229'])
    assert.equal((await fetch(server.url + proofCalendarPath(day))).status, 404, day);
});

test('a long name is folded at 75 bytes, and its signs are escaped (RFC 5545)', () => {
  const name = `Société d’Honneur, Lettres; Arts ${'é'.repeat(80)}`;
  const text = entry(name);
  for (const line of text.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75, line);
  const unfolded = text.replaceAll('\r\n ', '');
  assert.ok(unfolded.includes(`SUMMARY:Proof of eligibility is due: ${name.replace(/[,;]/g, '\\$&')}\r\n`));
});
