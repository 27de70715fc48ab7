import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { defaultFieldRules } from '#core/crmFields.ts';
import { beforeEachIn } from '../../../../tests/harness/hooks.ts';
import type { ProviderTrouble } from '../../providers/trouble.ts';
import { type Budget, type CallKind, noBudget } from './budget.ts';
import { type HubspotClient, hubspotClient } from './client.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from './errors.ts';

/** The HTTP answer that the test's server gives to every call. */
let answer: { status: number; headers?: Record<string, string>; body: unknown };
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
});
let client: HubspotClient;
let told: ProviderTrouble[];
let counted: [string, CallKind | 'all', number?][];
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const budget: Budget = {
    ...noBudget,
    answered: async (kind) => void counted.push(['answered', kind]),
    limited: async (kind, ms) => void counted.push(['limited', kind, ms]),
    failed: async (kind) => void counted.push(['failed', kind]),
  };
  client = hubspotClient(
    { url, accessToken: 'token', apiVersion: '2026-09' },
    defaultFieldRules,
    budget,
    'joiner',
    async (trouble) => {
      told.push(trouble);
    },
  );
});
after(() => server.close());
beforeEachIn(import.meta.filename, () => {
  told = [];
  counted = [];
});

const write = [{ mark: 'a', id: '101', properties: { city: 'Austin' } }];
const file = () => ({
  path: '/induct/ada-lovelace-1.pdf',
  mediaType: 'application/pdf',
  sizeBytes: 1,
  bytes: Readable.from([Buffer.from('%')]),
});
/** Every call of the client. `isAboutOne`: the call is about a single record, so a 404 is no failure. */
const calls: [name: string, call: () => Promise<unknown>, isAboutOne: boolean][] = [
  ['getContact', () => client.getContact('101', 10_000), true],
  ['findByCode', () => client.findByCode('HONOR101', { timeoutMs: 10_000, who: 'joiner' }), false],
  ['findByEmail', () => client.findByEmail('ada@example.com'), true],
  ['readContacts', () => client.readContacts(['101'], ['email']), false],
  ['updateContacts', () => client.updateContacts(write), false],
  ['createContacts', () => client.createContacts(write), false],
  ['listContacts', () => client.listContacts(null), false],
  ['deletedContacts', () => client.deletedContacts(null), false],
  ['changedContacts', () => client.changedContacts(new Date(), null), false],
  ['uploadFile', () => client.uploadFile(file()), false],
  ['findFile', () => client.findFile('/induct/ada-lovelace-1.pdf'), true],
  ['createNote', () => client.createNote({ contactId: '101', fileId: '1', html: '', at: new Date() }), false],
  ['findNote', () => client.findNote('101', '1'), true],
  ['getProperties', () => client.getProperties(), true],
  [
    'createProperty',
    () =>
      client.createProperty({
        name: 'paid_at',
        label: 'Paid at',
        type: 'datetime',
        fieldType: 'date',
        groupName: 'contactinformation',
        options: [],
      }),
    false,
  ],
  ['mayWrite', () => client.mayWrite(), false],
  ['getPropertyNames', () => client.getPropertyNames(), true],
  ['getScopes', () => client.getScopes(), true],
];

interface Expected {
  status: number;
  policyName?: string;
  as: typeof CrmRefused | typeof CrmDenied | typeof CrmUnavailable;
  /** The expected notice to staff; null for trouble that ends by itself. */
  notice: RegExp | null;
  counts: [string, ('kind' | 'all')?, number?];
}
const table: Expected[] = [
  { status: 400, as: CrmRefused, notice: /400 SOME_CODE city/, counts: ['answered'] },
  { status: 401, as: CrmDenied, notice: /refuses HUBSPOT_ACCESS_TOKEN/, counts: ['failed'] },
  { status: 403, as: CrmDenied, notice: /does not let the key make/, counts: ['answered'] },
  { status: 404, as: CrmDenied, notice: /HUBSPOT_API_VERSION/, counts: ['answered'] },
  { status: 405, as: CrmDenied, notice: /HUBSPOT_API_VERSION/, counts: ['answered'] },
  { status: 408, as: CrmUnavailable, notice: null, counts: ['failed'] },
  ...[409, 413, 414, 415, 422].map(
    (status): Expected => ({
      status,
      as: CrmRefused,
      notice: new RegExp(`${status} SOME_CODE city`),
      counts: ['answered'],
    }),
  ),
  { status: 423, as: CrmUnavailable, notice: null, counts: ['limited', 'kind', 2_000] },
  { status: 429, as: CrmUnavailable, notice: null, counts: ['limited', 'kind', 1_000] },
  {
    status: 429,
    policyName: 'TEN_SECONDLY_ROLLING',
    as: CrmUnavailable,
    notice: null,
    counts: ['limited', 'kind', 10_000],
  },
  {
    status: 429,
    policyName: 'DAILY',
    as: CrmUnavailable,
    notice: /daily limit/,
    counts: ['limited', 'all', 900_000],
  },
  { status: 477, as: CrmUnavailable, notice: /moving the account/, counts: ['limited', 'all', 600_000] },
  ...[500, 502, 503, 504, 521, 524].map(
    (status): Expected => ({ status, as: CrmUnavailable, notice: null, counts: ['failed'] }),
  ),
];

for (const { status, policyName, as, notice, counts } of table)
  test(`of ${policyName ?? ''} ${status} every call makes the same, says it once, and names nobody`, async () => {
    answer = {
      status,
      body: {
        message: 'Ada Lovelace at ada@example.com, contact 101',
        correlationId: '7f9d1f2e-0000-4000-8000-000000000000',
        ...(policyName
          ? { policyName }
          : {
              category: 'SOME_CATEGORY',
              errors: [
                {
                  message: 'ada@example.com',
                  code: 'SOME_CODE',
                  context: { propertyName: ['city'] },
                },
              ],
            }),
      },
    };
    for (const [name, call, isAboutOne] of calls) {
      told = [];
      counted = [];
      if (status === 404 && isAboutOne) {
        assert.equal(await call(), null, name);
        assert.deepEqual(told, [], name);
        continue;
      }
      // `mayWrite` sends an empty batch. It resolves if HubSpot refuses that batch, since HubSpot checks the permission first.
      // A batch that HubSpot refuses as a whole has an outcome for each of its writes.
      if (/^(mayWrite|updateContacts|createContacts)$/.test(name) && as === CrmRefused) await call();
      else await assert.rejects(call(), (error) => error instanceof as, name);
      assert.equal(told.length, 1, name);
      const [trouble] = told as [ProviderTrouble];
      assert.deepEqual(
        [trouble.status, trouble.code, trouble.requestId],
        [status, policyName ?? 'SOME_CODE', '7f9d1f2e-0000-4000-8000-000000000000'],
        name,
      );
      if (notice === null) assert.equal(trouble.notice, null, name);
      else assert.match(trouble.notice ?? '', notice, name);
      assert.doesNotMatch(JSON.stringify(trouble), /ada|lovelace|honor101|\b101\b/i, name);
      const kind = /^findByCode$|changed/i.test(name) ? 'search' : 'call';
      const [what, whose, ms] = counts;
      assert.deepEqual(
        counted,
        [[what, whose === 'all' ? 'all' : kind, ...(ms === undefined ? [] : [ms])]],
        name,
      );
    }
  });

for (const [status, seconds, ms] of [
  [429, '7', 7_000],
  [423, '1', 2_000],
  [477, '3600', 3_600_000],
  [477, '9999999', 86_400_000],
] as const)
  test(`a Retry-After of ${seconds} s with ${status} is a wait of ${ms} ms`, async () => {
    answer = { status, headers: { 'retry-after': seconds }, body: { policyName: 'DAILY' } };
    await assert.rejects(client.getContact('101', 10_000), { retryAfterMs: ms });
    assert.equal(counted[0]![2], ms);
  });

test('a scope that is lacking is named to staff', async () => {
  const context = { requiredGranularScopes: ['crm.objects.contacts.write'] };
  answer = { status: 403, body: { category: 'MISSING_SCOPES', errors: [{ message: '', context }] } };
  await assert.rejects(client.updateContacts(write), CrmDenied);
  assert.match(told[0]!.notice ?? '', /403 MISSING_SCOPES\): it wants crm\.objects\.contacts\.write\. Add/);
});

const batch = (results: unknown) => JSON.stringify({ status: 'COMPLETE', results });
const contact = { id: '101', properties: {}, createdAt: '2026-11-01T00:00:00.000Z' };
/** Answers that HubSpot never gives: name, status and body. */
const unreadable: [name: string, status: number, body: string][] = [
  ['an empty object', 200, '{}'],
  ['an array', 200, '[]'],
  ['a bare string', 200, '"yes"'],
  ['a number', 200, '7'],
  ['null', 200, 'null'],
  ['nothing', 200, ''],
  ['half an object', 200, '{"results":[{"id":"101","prop'],
  ['a page in HTML', 200, '<html>Sign in to the hotel</html>'],
  ['results that are no list', 200, batch({})],
  ['a result that is none', 200, batch([null])],
  ['a result without properties', 200, batch([{ ...contact, properties: undefined }])],
  ['a result whose id is a number', 200, batch([{ ...contact, id: 101 }])],
  ['a result whose properties are numbers', 200, batch([{ ...contact, properties: { mp: 1 } }])],
  ['a result without a time', 200, batch([{ ...contact, createdAt: 'once' }])],
  ['a redirect', 302, ''],
  ['a redirect with JSON', 301, '{}'],
  ['a refusal in HTML', 400, '<html>Blocked</html>'],
  ['a refusal of the key in HTML', 403, '<html>Blocked</html>'],
];
for (const [name, status, body] of unreadable)
  test(`${name} (${status}) in HubSpot’s place is no answer to any call, and told with its request id`, async () => {
    const elsewhere = createServer((_, response) => response.end('{}'));
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    answer = { status, body, headers: { location, 'x-hubspot-correlation-id': '7f9d' } };
    for (const [call, make] of calls) {
      // `mayWrite` accepts any JSON as the answer.
      if (call === 'mayWrite' && body.startsWith('{') && status === 200 && body.endsWith('}')) continue;
      // Lists read only the ids.
      if (/^(list|deleted)/.test(call) && /properties|time/.test(name)) continue;
      told = [];
      counted = [];
      await assert.rejects(make(), (error) => error instanceof CrmUnavailable, call);
      assert.deepEqual(
        told.map(({ status, code, requestId }) => [status, code, requestId]),
        [[status, 'unreadable_answer', '7f9d']],
        call,
      );
      assert.match(told[0]!.notice!, /is not HubSpot/, call);
      assert.deepEqual(
        counted.map(([what]) => what),
        ['failed'],
        call,
      );
    }
    elsewhere.close();
  });

test('an error of HubSpot’s whose parts are not what they should be is read without them', async () => {
  for (const body of [
    { message: 5, category: {}, errors: 'x' },
    { message: 'no', errors: [null] },
    { message: 'no', errors: [{ message: 7, code: [], context: 'x' }] },
    { message: 'a\0b\ud800', errors: [{ context: { propertyName: 'city', requiredScopes: 'x' } }] },
  ])
    for (const [status, as] of [
      [400, CrmRefused],
      [403, CrmDenied],
      [429, CrmUnavailable],
      [500, CrmUnavailable],
    ] as const) {
      answer = { status, body };
      told = [];
      await assert.rejects(
        client.readContacts(['101'], ['email']),
        (error) => error instanceof as && !/\0|[\ud800-\udfff]/.test(error.message),
      );
      assert.equal(told.length, 1);
    }
});

/** HubSpot names the invalid property in `errors`, in the message, or in both. */
const within = (name: string) =>
  `Property values were not valid: [{"isValid":false,"message":"no","error":"INVALID_EMAIL","name":"${name}"}]`;
const beside = (name: string) => [{ code: 'INVALID_EMAIL', context: { propertyName: [name] } }];
for (const [isEmail, error] of [
  [true, { message: within('email') }],
  [true, { message: 'no', errors: beside('email') }],
  [true, { message: within('email'), errors: beside('email') }],
  [false, { message: within('work_email') }],
  [false, { message: 'no', errors: beside('work_email') }],
  [false, { message: 'no', errors: [{ code: 'INVALID_INTEGER', context: { propertyName: ['email'] } }] }],
] as const)
  test(`${JSON.stringify(error)} is ${isEmail ? '' : 'not '}about the contact’s email`, async () => {
    for (const [status, body] of [
      [400, error],
      [207, { results: [], errors: [{ ...error, context: { objectWriteTraceId: ['a'] } }] }],
    ] as const) {
      answer = { status, body };
      const outcome = (await client.createContacts(write)).get('a')!;
      assert.deepEqual([outcome.kind, 'isEmail' in outcome && outcome.isEmail], ['refused', isEmail]);
    }
    // A refused email has no notice here, because staff get one when the join is sent without its email.
    for (const { notice } of told) assert.equal(notice === null, isEmail);
  });

for (const [reason, message] of [
  [
    'phone: not a phone number; zip: too long',
    'Property values were not valid: [{"isValid":false,"message":"not a phone number","error":"A","name":"phone"},{"isValid":false,"message":"too long","error":"B","name":"zip"}]',
  ],
  ['Property values were not valid: [cut', 'Property values were not valid: [cut'],
  ['Property values were not valid: [cut]', 'Property values were not valid: [cut]'],
  ['Property values were not valid: []', 'Property values were not valid: []'],
  ['Property values were not valid: [{"name":1}]', 'Property values were not valid: [{"name":1}]'],
] as const)
  test(`${message} is told as: ${reason}`, async () => {
    answer = { status: 400, body: { message } };
    const outcome = (await client.createContacts(write)).get('a')!;
    assert.equal('reason' in outcome && outcome.reason, reason);
  });

test('who answers 404 without HubSpot’s words does not say that there is no such contact', async () => {
  answer = { status: 404, body: '<html>Not found</html>' };
  for (const [call, make] of calls) await assert.rejects(make(), CrmDenied, call);
});
