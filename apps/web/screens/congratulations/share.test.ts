import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkedInAddress } from './share.ts';

const certificate = { programme: 'Honor Scholars', since: '2026-03-09' };
const VERIFY = 'https://join.society.example/verify/7K3M9QXR';

const fieldsOf = (verifyUrl: string | null) =>
  Object.fromEntries(
    new URL(linkedInAddress(certificate, '7K3M-9QXR', 'Scholars & Friends', verifyUrl)).searchParams,
  );

test('LinkedIn is told the membership, since when, and where to verify it', () => {
  assert.deepEqual(fieldsOf(VERIFY), {
    startTask: 'CERTIFICATION_NAME',
    name: 'Member, Honor Scholars',
    organizationName: 'Scholars & Friends',
    issueYear: '2026',
    issueMonth: '3',
    certId: '7K3M-9QXR',
    certUrl: VERIFY,
  });
});

test('LinkedIn gets no page to verify at if others may not verify the membership', () => {
  assert.ok(!('certUrl' in fieldsOf(null)));
});
