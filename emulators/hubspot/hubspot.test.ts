import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HUBSPOT_ACCESS_TOKEN } from '../keys.ts';
import { type HubspotEmulatorOptions, startHubspotEmulator } from './server.ts';
import { faultsOf } from './shapes.ts';

const CONTACTS = '/crm/objects/2026-09/contacts';

/** Starts an emulator for one test. The test sets the emulator's clock through `time`. */
async function emulate(t: TestContext, options: Partial<HubspotEmulatorOptions> = {}) {
  const time = { now: Date.parse('2026-05-01T10:00:00Z') };
  const dataDir = mkdtempSync(join(tmpdir(), 'hubspot-emulator-'));
  const emulator = await startHubspotEmulator({
    host: '127.0.0.1',
    port: 0,
    dataDir,
    clock: () => time.now,
    ...options,
  });
  t.after(() => emulator.close());
  const request = async (method: string, path: string, body?: object, token = HUBSPOT_ACCESS_TOKEN) => {
    const response = await fetch(emulator.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  return {
    time,
    request,
    contacts: (method: string, path: string, body?: object) => request(method, CONTACTS + path, body),
    control: (method: string, path: string, body?: object) => request(method, `/_emulator/${path}`, body),
    find: async (property: string, value: string) => {
      const filters = [{ propertyName: property, operator: 'EQ', value }];
      const { body } = await request('POST', `${CONTACTS}/search`, { filterGroups: [{ filters }] });
      return body.results.map(({ id }: { id: string }) => id);
    },
  };
}

test('the demo contacts are there on the first start, with the properties that are asked for', async (t) => {
  const { contacts } = await emulate(t);
  const { body } = await contacts('GET', '/101?properties=firstname,state,country,nothing');
  assert.deepEqual(body.properties, {
    country: 'US',
    createdate: '2026-04-30T10:00:00.000Z',
    firstname: 'Jordan',
    hs_object_id: '101',
    lastmodifieddate: '2026-04-30T10:00:00.000Z',
    state: 'TX',
  });
  const page = await contacts('GET', '?limit=3&properties=invitation_code');
  const rest = await contacts(
    'GET',
    `?limit=3&properties=invitation_code&after=${page.body.paging.next.after}`,
  );
  assert.deepEqual(
    [...page.body.results, ...rest.body.results].map(({ id, properties }) => [
      id,
      properties.invitation_code,
    ]),
    [101, 102, 103, 104, 105].map((id) => [String(id), `HONOR${id}`]),
  );
  assert.equal(rest.body.paging, undefined);
});

test('a contact is found by its email, in whatever case', async (t) => {
  const { contacts } = await emulate(t);
  assert.equal((await contacts('GET', '/Lee.Chen@example.com?idProperty=email')).body.id, '105');
  assert.equal((await contacts('GET', '/Lee?idProperty=firstname')).status, 400);
  assert.equal((await contacts('GET', '/999')).status, 404);
});

test('a created contact has an id from 100001 on, and its email belongs to it alone', async (t) => {
  const { contacts } = await emulate(t);
  const created = await contacts('POST', '', { properties: { email: 'New@Example.com' } });
  assert.deepEqual(
    [created.status, created.body.id, created.body.properties.email],
    [201, '100001', 'new@example.com'],
  );
  const again = await contacts('POST', '', { properties: { email: 'new@example.com' } });
  assert.deepEqual(
    [again.status, again.body.category, again.body.message],
    [409, 'CONFLICT', 'Contact already exists. Existing ID: 100001'],
  );
  const taken = await contacts('PATCH', '/101', { properties: { email: 'new@example.com' } });
  assert.equal(taken.status, 409);
});

test('search knows a write only after its lag, and reads by id at once', async (t) => {
  const { contacts, find, time } = await emulate(t);
  await contacts('PATCH', '/101', { properties: { city: 'Dallas' } });
  assert.equal((await contacts('GET', '/101?properties=city')).body.properties.city, 'Dallas');
  time.now += 4_999;
  assert.deepEqual([await find('city', 'Dallas'), await find('city', 'Austin')], [[], ['101']]);
  time.now += 1;
  assert.deepEqual([await find('city', 'Dallas'), await find('city', 'Austin')], [['101'], []]);
});

const filters: [string, object, string[]][] = [
  ['EQ without case', { propertyName: 'lastname', operator: 'EQ', value: 'OKAFOR' }, ['103']],
  [
    'IN',
    { propertyName: 'invitation_code', operator: 'IN', values: ['HONOR101', 'honor105'] },
    ['101', '105'],
  ],
  ['HAS_PROPERTY', { propertyName: 'membership_status', operator: 'HAS_PROPERTY' }, ['105']],
  ['NOT_HAS_PROPERTY', { propertyName: 'country', operator: 'NOT_HAS_PROPERTY' }, ['103', '105']],
  ['GT on text', { propertyName: 'lastname', operator: 'GT', value: 'p' }, ['101', '102']],
  [
    'GTE on a time in ms',
    { propertyName: 'lastmodifieddate', operator: 'GTE', value: String(Date.parse('2026-04-30T10:00:00Z')) },
    ['101', '102', '103', '104', '105'],
  ],
  [
    'LT on a time in ISO 8601',
    { propertyName: 'createdate', operator: 'LT', value: '2026-04-30T10:00:00Z' },
    [],
  ],
  [
    'CONTAINS_TOKEN with a wildcard',
    { propertyName: 'email', operator: 'CONTAINS_TOKEN', value: 'priya*' },
    ['104'],
  ],
];
for (const [name, filter, ids] of filters) {
  test(`search by ${name}`, async (t) => {
    const { contacts } = await emulate(t);
    const { body } = await contacts('POST', '/search', { filterGroups: [{ filters: [filter] }] });
    assert.deepEqual(
      body.results.map(({ id }: { id: string }) => id),
      ids,
    );
    assert.equal(body.total, ids.length);
  });
}

test('search sorts, pages and refuses what is out of bounds', async (t) => {
  const { contacts } = await emulate(t, { limits: 'off' });
  const sorts = [{ propertyName: 'firstname', direction: 'DESCENDING' }];
  const first = await contacts('POST', '/search', { sorts, limit: 2, properties: ['firstname'] });
  const second = await contacts('POST', '/search', { sorts, limit: 4, after: first.body.paging.next.after });
  assert.deepEqual(
    first.body.results.map(
      ({ properties }: { properties: object }) => (properties as { firstname: string }).firstname,
    ),
    ['Sam', 'Priya'],
  );
  assert.deepEqual([first.body.total, second.body.results.length, second.body.paging], [5, 3, undefined]);
  for (const wrong of [
    { limit: 201 },
    { filterGroups: Array.from({ length: 6 }, () => ({ filters: [] })) },
    { filterGroups: [{ filters: [{ propertyName: 'city', operator: 'LIKES', value: 'x' }] }] },
    { filterGroups: [{ filters: [{ propertyName: 'nothing', operator: 'HAS_PROPERTY' }] }] },
    { sorted: [] },
  ]) {
    assert.equal((await contacts('POST', '/search', wrong)).status, 400, JSON.stringify(wrong));
  }
});

test('every refused property is named with its reason, and nothing is written', async (t) => {
  const { contacts } = await emulate(t);
  const properties = {
    city: 'Dallas',
    colour: 'red',
    email: 'nobody',
    amount_paid: 'much',
    hs_object_id: '1',
    transcript_received: 'maybe',
  };
  const { status, body } = await contacts('PATCH', '/101', { properties });
  assert.equal(status, 400);
  assert.deepEqual(
    body.errors.map(({ code, context }: { code: string; context: { propertyName: string[] } }) => [
      context.propertyName[0],
      code,
    ]),
    [
      ['colour', 'PROPERTY_DOESNT_EXIST'],
      ['email', 'INVALID_EMAIL'],
      ['amount_paid', 'INVALID_INTEGER'],
      ['hs_object_id', 'READ_ONLY_VALUE'],
      ['transcript_received', 'INVALID_OPTION'],
    ],
  );
  assert.match(body.message, /^Property values were not valid: \[\{"isValid":false/);
  assert.equal((await contacts('GET', '/101?properties=city')).body.properties.city, 'Austin');
});

test('of a batch of new contacts a wrong one is told by its trace, and the others are created', async (t) => {
  const { contacts } = await emulate(t);
  const input = (word: string, more: object) => ({
    properties: { email: `${word}@example.com`, ...more },
    objectWriteTraceId: word,
  });
  const inputs = [input('good', {}), input('bad', { colour: 'red' })];
  const traced = await contacts('POST', '/batch/create', { inputs });
  assert.deepEqual([traced.status, traced.body.results.length], [207, 1]);
  assert.deepEqual(traced.body.errors[0].context, { objectWriteTraceId: ['bad'] });
});

test('a batch upsert by email creates and updates, and says which', async (t) => {
  const { contacts } = await emulate(t);
  const input = (email: string, more: object) => ({
    id: email,
    idProperty: 'email',
    properties: { email, ...more },
  });
  const inputs = [
    input('zed@example.com', { firstname: 'Zed' }),
    input('Lee.Chen@example.com', { city: 'Austin' }),
  ];
  const { status, body } = await contacts('POST', '/batch/upsert', { inputs });
  assert.equal(status, 200);
  assert.deepEqual(
    body.results.map((one: { id: string; new: boolean }) => [one.id, one.new]),
    [
      ['100001', true],
      ['105', false],
    ],
  );
});

test('a batch create is all or nothing, and a batch read names what is gone', async (t) => {
  const { contacts } = await emulate(t);
  const inputs = [
    { properties: { email: 'one@example.com' } },
    { properties: { email: 'lee.chen@example.com' } },
  ];
  assert.equal((await contacts('POST', '/batch/create', { inputs })).status, 409);
  assert.equal((await contacts('GET', '/one@example.com?idProperty=email')).status, 404);
  assert.equal((await contacts('POST', '/batch/create', { inputs: inputs.slice(0, 1) })).status, 201);
  await contacts('DELETE', '/103');
  const read = await contacts('POST', '/batch/read', {
    inputs: [{ id: '101' }, { id: '103' }],
    properties: ['city'],
    propertiesWithHistory: [],
  });
  assert.deepEqual([read.status, read.body.errors[0].context.ids], [207, ['103']]);
});

test('an archived contact is gone, may be asked for as archived, and gives its email free', async (t) => {
  const { contacts } = await emulate(t);
  assert.equal((await contacts('DELETE', '/105')).status, 204);
  assert.equal((await contacts('GET', '/105')).status, 404);
  assert.equal((await contacts('GET', '/105?archived=true')).body.archived, true);
  assert.equal((await contacts('POST', '', { properties: { email: 'lee.chen@example.com' } })).status, 201);
});

test('the 101st call in ten seconds is 429 and says by which limit; search has a limit of its own', async (t) => {
  const { contacts, time } = await emulate(t);
  for (let call = 1; call <= 100; call += 1) {
    const { headers } = await contacts('GET', '/101');
    assert.equal(headers.get('x-hubspot-ratelimit-remaining'), String(100 - call));
  }
  time.now += 4_000;
  const refused = await contacts('GET', '/101');
  assert.deepEqual(
    [refused.status, refused.headers.get('retry-after'), refused.body.policyName],
    [429, null, 'TEN_SECONDLY_ROLLING'],
  );
  assert.deepEqual(faultsOf('error', refused.body), []);
  for (let call = 1; call <= 4; call += 1) assert.equal((await contacts('POST', '/search', {})).status, 200);
  assert.equal((await contacts('POST', '/search', {})).body.policyName, 'SECONDLY');
  time.now += 6_000;
  assert.equal((await contacts('GET', '/101')).status, 200);
});

test('no token and a wrong one are 401, what is not known is 501', async (t) => {
  const { request, contacts } = await emulate(t);
  assert.equal((await request('GET', `${CONTACTS}/101`, undefined, 'pat-other')).status, 401);
  for (const path of ['/101/associations/companies', '/gdpr-undelete'])
    assert.equal((await contacts('POST', path, {})).status, 501);
  assert.equal((await request('GET', '/crm/objects/2024-01/contacts/101')).status, 501);
  assert.equal((await request('GET', '/crm/v3/owners')).status, 501);
});

test('a property can be added and is then known', async (t) => {
  const { request, contacts } = await emulate(t);
  const path = '/crm/properties/2026-09/contacts';
  const property = {
    name: 'chapter',
    label: 'Chapter',
    type: 'enumeration',
    fieldType: 'select',
    groupName: 'contactinformation',
    options: [{ label: 'North', value: 'north' }],
  };
  assert.equal((await request('POST', path, property)).status, 201);
  assert.equal((await request('POST', path, property)).status, 409);
  assert.equal((await contacts('PATCH', '/101', { properties: { chapter: 'north' } })).status, 200);
  assert.equal((await contacts('PATCH', '/101', { properties: { chapter: 'south' } })).status, 400);
  assert.ok(
    (await request('GET', path)).body.results.some(({ name }: { name: string }) => name === 'chapter'),
  );
});

test("an administrator's rule refuses the values that it names", async (t) => {
  const { contacts, control } = await emulate(t);
  await control('POST', 'rules', {
    property: 'zip',
    pattern: '^0',
    message: 'ZIP codes of this account begin with 1 to 9.',
  });
  const refused = await contacts('PATCH', '/101', { properties: { zip: '01234' } });
  assert.deepEqual([refused.status, refused.body.errors[0].code], [400, 'FAILED_VALIDATION_RULE']);
  assert.equal((await contacts('PATCH', '/101', { properties: { zip: '12345' } })).status, 200);
});

test('faults and the ledger work as they do for every emulator', async (t) => {
  const { contacts, control } = await emulate(t);
  await control('POST', 'faults', {
    kind: 'status',
    status: 429,
    path: `${CONTACTS}/*`,
    headers: { 'retry-after': '7' },
  });
  const limited = await contacts('GET', '/101');
  assert.deepEqual(
    [limited.status, limited.headers.get('retry-after'), limited.body.category],
    [429, '7', 'RATE_LIMITS'],
  );
  await control('POST', 'faults', { kind: 'cut_after', method: 'PATCH' });
  await assert.rejects(contacts('PATCH', '/101', { properties: { city: 'Dallas' } }));
  assert.equal((await contacts('GET', '/101?properties=city')).body.properties.city, 'Dallas');
  const entries = (await control('GET', 'requests')).body;
  assert.deepEqual(
    entries.map(({ method, status }: { method: string; status: number | null }) => [method, status]),
    [
      ['GET', 429],
      ['PATCH', null],
      ['GET', 200],
    ],
  );
  assert.deepEqual(entries[1].params.body, { properties: { city: 'Dallas' } });
});

test('a rule that wants a property of every new contact, and one by the value of another, refuse what lacks it', async (t) => {
  const { contacts, control } = await emulate(t);
  await control('POST', 'rules', { property: 'phone', required: true });
  const refused = await contacts('POST', '', { properties: { email: 'a@example.com' } });
  assert.deepEqual(
    [refused.status, refused.body.errors],
    [
      400,
      [
        {
          message: 'A value for phone must be provided',
          code: 'MISSING_REQUIRED_PROPERTY',
          context: { propertyName: ['phone'] },
        },
      ],
    ],
  );
  assert.equal((await contacts('PATCH', '/101', { properties: { city: 'Dallas', phone: '' } })).status, 200);
  await control('DELETE', 'rules');
  await control('POST', 'rules', { property: 'phone', requiredWhen: { property: 'city', value: 'Waco' } });
  const inWaco = await contacts('PATCH', '/101', { properties: { city: 'Waco' } });
  assert.deepEqual(
    [inWaco.status, inWaco.body.errors[0].code],
    [400, 'MISSING_CONDITIONAL_REQUIRED_PROPERTY'],
  );
  assert.equal((await contacts('PATCH', '/101', { properties: { city: 'Waco', phone: '1' } })).status, 200);
});

test('both rules hold in batches: of a create for each contact, of an update and an upsert for all', async (t) => {
  const { contacts, control } = await emulate(t);
  const [whole, lacking] = ['whole@example.com', 'lacking@example.com'];
  const of = (email: string, more: object = {}) => ({ properties: { email, city: 'Waco', ...more } });
  const upsert = (email: string, more: object = {}) => ({
    id: email,
    idProperty: 'email',
    ...of(email, more),
  });
  for (const [rule, code] of [
    [{ property: 'phone', required: true }, 'MISSING_REQUIRED_PROPERTY'],
    [
      { property: 'phone', requiredWhen: { property: 'city', value: 'Waco' } },
      'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
    ],
  ] as const) {
    await control('DELETE', 'rules');
    await control('POST', 'rules', rule);
    const upserted = await contacts('POST', '/batch/upsert', {
      inputs: [upsert(whole, { phone: '1' }), upsert(lacking)],
    });
    assert.deepEqual([upserted.status, upserted.body.errors[0].code], [400, code]);
    const untraced = await contacts('POST', '/batch/create', {
      inputs: [of(whole, { phone: '1' }), of(lacking)],
    });
    assert.deepEqual([untraced.status, untraced.body.errors[0].code], [400, code]);
    for (const email of [whole, lacking])
      assert.equal((await contacts('GET', `/${email}?idProperty=email`)).status, 404, 'none was kept');
    const created = await contacts('POST', '/batch/create', {
      inputs: [
        { ...of(whole, { phone: '1' }), objectWriteTraceId: 'a' },
        { ...of(lacking), objectWriteTraceId: 'b' },
      ],
    });
    assert.equal(created.status, 207);
    assert.deepEqual(
      created.body.errors.map((error: { errors: { code: string }[]; context: object }) => [
        error.errors[0]!.code,
        error.context,
      ]),
      [[code, { objectWriteTraceId: ['b'] }]],
    );
    const { id } = created.body.results[0];
    const updated = await contacts('POST', '/batch/update', {
      inputs: [
        { id: '101', properties: { city: 'Dallas' } },
        { id, properties: { phone: '' } },
      ],
    });
    // An update may leave out a property that is required of new contacts.
    assert.equal(updated.status, 'required' in rule ? 200 : 400);
    await contacts('DELETE', `/${id}`);
  }
});

test('a day has so many calls, searches too, and the next one as many again', async (t) => {
  const limits = { tenSecondly: 100, searchSecondly: 4, daily: 2 };
  const { contacts, time } = await emulate(t, { limits });
  assert.equal((await contacts('GET', '/101')).status, 200);
  assert.equal((await contacts('POST', '/search', {})).status, 200);
  for (const refused of [await contacts('GET', '/101'), await contacts('POST', '/search', {})])
    assert.deepEqual(
      [refused.status, refused.body.policyName, refused.headers.get('retry-after')],
      [429, 'DAILY', null],
    );
  time.now += 86_400_000;
  assert.equal((await contacts('GET', '/101')).status, 200);
});
