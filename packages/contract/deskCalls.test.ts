import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callWords } from '#core/staff.ts';
import { type DeskCallName, deskCalls, isRecorded } from './deskCalls.ts';

test('what staff did is said in the words of the pages, not in those of the calls', () => {
  const said = (Object.keys(deskCalls) as DeskCallName[]).filter(isRecorded).map(callWords);
  assert.deepEqual(
    said.filter(
      (words) =>
        /^Get |^Enter|^Set |hubspot|goods|unship|staff access/i.test(words) && !/HubSpot/.test(words),
    ),
    [],
  );
  assert.equal(new Set(said).size, said.length);
});
