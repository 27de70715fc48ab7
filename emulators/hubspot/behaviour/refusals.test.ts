import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uniqueWord } from '../../shared/subjects.ts';
import { type Subject, subject } from '../subject.ts';

const PROPERTIES = '/crm/properties/VERSION/contacts';

for (const [what, email] of [
  ['a word', 'n/a'],
  ['two dots', 'name@example..com'],
  ['a comma', 'a,b@example.com'],
  ['a dot at the end of its name', 'name.@example.com'],
  ['no name of a country or kind', 'name@example'],
  ['two signs', 'a@b@example.com'],
] as const)
  test(`an email with ${what} is refused, to create and to update`, async (t) => {
    const { contact, contacts } = await subject(t);
    const created = await contacts('POST', '', { properties: { email, firstname: 'Ada' } });
    assert.equal(created.status, 400, JSON.stringify(created.body));
    assert.match(created.body.message, /INVALID_EMAIL/);
    const { id } = await contact();
    assert.equal((await contacts('PATCH', `/${id}`, { properties: { email } })).status, 400);
  });

test('one wrong value fails a whole batch update, traced or not: errors are told one by one of created records alone', async (t) => {
  const { contact, contacts } = await subject(t);
  const [one, two] = [await contact({ city: 'Austin' }), await contact()];
  const inputs = [
    { id: one.id, properties: { city: 'Dallas' }, objectWriteTraceId: 'a' },
    { id: two.id, properties: { email: 'n/a' }, objectWriteTraceId: 'b' },
  ];
  const { status, body } = await contacts('POST', '/batch/update', { inputs });
  assert.deepEqual([status, body.category], [400, 'VALIDATION_ERROR']);
  assert.equal((await contacts('GET', `/${one.id}?properties=city`)).body.properties.city, 'Austin');
});

test('a trace id that stands twice in a batch is refused, and nobody is created', async (t) => {
  const { contacts } = await subject(t);
  const emails = [uniqueWord(), uniqueWord()].map((word) => `${word}@example.com`);
  const inputs = emails.map((email) => ({ properties: { email }, objectWriteTraceId: 'same' }));
  assert.equal((await contacts('POST', '/batch/create', { inputs })).status, 400);
  for (const email of emails)
    assert.equal((await contacts('GET', `/${encodeURIComponent(email)}?idProperty=email`)).status, 404);
});

for (const id of ['abc', '12x', '-1', '99999999999999999999'])
  test(`${id} is no record id: a batch that names it is refused as a whole`, async (t) => {
    const { contact, contacts } = await subject(t);
    const { id: good } = await contact();
    const read = { inputs: [{ id: good }, { id }], properties: ['city'], propertiesWithHistory: [] };
    assert.equal((await contacts('POST', '/batch/read', read)).status, 400);
    const inputs = [good, id].map((named) => ({ id: named, properties: { city: 'Dallas' } }));
    assert.equal((await contacts('POST', '/batch/update', { inputs })).status, 400);
  });

test('an upsert by email with a part of the properties is refused', async (t) => {
  const { contact, contacts } = await subject(t);
  const { email } = await contact({ city: 'Austin' });
  const inputs = [{ id: email, idProperty: 'email', properties: { city: 'Dallas' } }];
  assert.equal((await contacts('POST', '/batch/upsert', { inputs })).status, 400);
});

const search = ({ contacts }: Subject, request: object) => contacts('POST', '/search', request);
const since = (value: string) => ({
  filterGroups: [{ filters: [{ propertyName: 'lastmodifieddate', operator: 'GTE', value }] }],
});
test('a search with two sorts is refused', async (t) => {
  const at = await subject(t);
  const sort = (propertyName: string) => ({ propertyName, direction: 'ASCENDING' });
  assert.equal((await search(at, { sorts: [sort('lastname')] })).status, 200);
  assert.equal((await search(at, { sorts: [sort('lastname'), sort('firstname')] })).status, 400);
});

test('a time is compared with a time: a word is refused', async (t) => {
  const at = await subject(t);
  assert.equal((await search(at, since(String(Date.now())))).status, 200);
  for (const word of ['yesterday', '1 May 2026', '05/01/2026'])
    assert.equal((await search(at, since(word))).status, 400, word);
});

test('a search whose body is longer than 3,000 characters is refused', async (t) => {
  const at = await subject(t);
  assert.equal((await search(at, { query: 'x'.repeat(2_900) })).status, 200);
  assert.equal((await search(at, { query: 'x'.repeat(3_000) })).status, 400);
});

/** Creates a property in the account and removes it after the test. */
async function property(at: Subject, more: object): Promise<{ name: string; status: number }> {
  const name = uniqueWord();
  const { status } = await at.request('POST', PROPERTIES, {
    name,
    label: name,
    groupName: 'contactinformation',
    ...more,
  });
  if (status === 201) at.afterwards(() => at.request('DELETE', `${PROPERTIES}/${name}`));
  return { name, status };
}

test('a number is written in digits: 1e5 and words are refused', async (t) => {
  const at = await subject(t);
  const { name, status } = await property(at, { type: 'number', fieldType: 'number' });
  assert.equal(status, 201);
  const { id } = await at.contact({ [name]: '65.00' });
  for (const value of ['1e5', '1.4210854715202004e-14', 'NaN', 'Infinity', '0x10', '1,000', 'many']) {
    const refused = await at.contacts('PATCH', `/${id}`, { properties: { [name]: value } });
    assert.equal(refused.status, 400, value);
    assert.match(refused.body.message, /INVALID_INTEGER/, value);
  }
});

test('a date and time is ISO 8601 or milliseconds: words are refused', async (t) => {
  const at = await subject(t);
  const { name, status } = await property(at, { type: 'datetime', fieldType: 'date' });
  assert.equal(status, 201);
  const { id } = await at.contact({ [name]: '2026-05-01T10:00:00Z' });
  const write = (value: string) => at.contacts('PATCH', `/${id}`, { properties: { [name]: value } });
  assert.equal((await write(String(Date.parse('2026-05-02')))).status, 200);
  for (const value of [
    'tomorrow',
    'May 1, 2026',
    '05/01/2026 10:00',
    'Fri, 01 May 2026 10:00:00 GMT',
    '2026-02-30',
    '99999999999999999999',
  ])
    assert.equal((await write(value)).status, 400, value);
});

test('a date is a day: a time of it that is not midnight UTC is refused', async (t) => {
  const at = await subject(t);
  const { name, status } = await property(at, { type: 'date', fieldType: 'date' });
  assert.equal(status, 201);
  const { id } = await at.contact({ [name]: '2026-05-01' });
  const write = (value: string) => at.contacts('PATCH', `/${id}`, { properties: { [name]: value } });
  assert.equal((await write(String(Date.parse('2026-05-02')))).status, 200);
  const { status: refused, body } = await write(String(Date.parse('2026-05-02T10:00:00Z')));
  assert.equal(refused, 400);
  assert.match(body.message, /not midnight/);
});

for (const [what, more] of [
  ['a choice without options', { type: 'enumeration', fieldType: 'select' }],
  ['a field type that does not go with its type', { type: 'datetime', fieldType: 'text' }],
  ['a field type that does not exist', { type: 'string', fieldType: 'datetime' }],
  ['a group that does not exist', { type: 'string', fieldType: 'text', groupName: 'nothing_of_this_name' }],
] as const)
  test(`a property with ${what} is refused`, async (t) => {
    const at = await subject(t);
    assert.equal((await property(at, more)).status, 400);
  });

test('a property that exists is not made again: 409 OBJECT_ALREADY_EXISTS', async (t) => {
  const { request } = await subject(t);
  const given = {
    name: 'city',
    label: 'City',
    type: 'string',
    fieldType: 'text',
    groupName: 'contactinformation',
  };
  const { status, body } = await request('POST', PROPERTIES, given);
  assert.deepEqual([status, body.category], [409, 'OBJECT_ALREADY_EXISTS']);
});

test('a contact of two that were merged answers to both ids, with an id of its own, and says which', async (t) => {
  const { contact, contacts, afterwards } = await subject(t);
  const [one, two] = [await contact({ city: 'Austin' }), await contact({ city: 'Dallas', zip: '75201' })];
  const merged = await contacts('POST', '/merge', { primaryObjectId: one.id, objectIdToMerge: two.id });
  assert.equal(merged.status, 200);
  afterwards(() => contacts('DELETE', `/${merged.body.id}`));
  for (const id of [one.id, two.id]) {
    const { status, body } = await contacts('GET', `/${id}?properties=city,zip,hs_merged_object_ids`);
    assert.deepEqual([status, body.id], [200, merged.body.id], id);
    assert.deepEqual([body.properties.city, body.properties.zip], ['Austin', '75201']);
    const ids = body.properties.hs_merged_object_ids.split(';');
    assert.ok(ids.includes(one.id) || merged.body.id === one.id);
    assert.ok(ids.includes(two.id));
  }
  const read = await contacts('POST', '/batch/read', {
    inputs: [{ id: two.id }],
    properties: ['city'],
    propertiesWithHistory: [],
  });
  assert.deepEqual(
    read.body.results.map((found: { id: string }) => found.id),
    [merged.body.id],
  );
  const inputs = [{ id: two.id, properties: { city: 'Houston' } }];
  const written = await contacts('POST', '/batch/update', { inputs });
  assert.deepEqual([written.status, written.body.results[0]?.id], [200, merged.body.id]);
});

test('the other email of a merged contact finds it, and is refused for a new one', async (t) => {
  const { contact, contacts, afterwards } = await subject(t);
  const [one, two] = [await contact(), await contact()];
  const merged = await contacts('POST', '/merge', { primaryObjectId: one.id, objectIdToMerge: two.id });
  afterwards(() => contacts('DELETE', `/${merged.body.id}`));
  const wanted = 'properties=email,hs_additional_emails';
  const found = await contacts('GET', `/${encodeURIComponent(two.email)}?idProperty=email&${wanted}`);
  assert.deepEqual([found.status, found.body.id], [200, merged.body.id]);
  const { email, hs_additional_emails: more } = found.body.properties;
  assert.deepEqual([email, more], [one.email, two.email]);
  const refused = await contacts('POST', '', { properties: { email: two.email } });
  assert.deepEqual([refused.status, refused.body.category], [409, 'CONFLICT']);
  assert.equal(/Existing ID: (\d+)/.exec(refused.body.message)?.[1], merged.body.id);
});

test('contacts that were deleted are listed as such', async (t) => {
  const { contact, contacts, eventually } = await subject(t);
  const { id } = await contact();
  assert.equal((await contacts('DELETE', `/${id}`)).status, 204);
  const found = await eventually(async () => {
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const { status, body } = await contacts('GET', `?archived=true&limit=100${after && `&after=${after}`}`);
      assert.equal(status, 200);
      ids.push(...body.results.map((one: { id: string }) => one.id));
      after = body.paging?.next.after ?? '';
      if (after === '') return ids.filter((one) => one === id);
    }
  });
  assert.deepEqual(found, [id]);
});

for (const kind of ['exe', 'bat', 'msi'])
  test(`a file of the kind ${kind} is refused`, async (t) => {
    const { upload } = await subject(t);
    assert.equal(await upload(`${uniqueWord()}.${kind}`), 400);
  });
