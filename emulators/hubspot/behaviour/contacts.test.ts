import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uniqueWord } from '../../shared/subjects.ts';
import { subject } from '../subject.ts';

/** An id that no contact has: it is larger than any that an account has assigned. */
const NOBODY = '999999999999';

test('a created contact is read by id and by email, with the properties that are asked for', async (t) => {
  const { contact, contacts } = await subject(t);
  const { id, email } = await contact({ firstname: 'Jordan', city: 'Austin' });
  const { status, body } = await contacts('GET', `/${id}?properties=firstname,city,zip,nothing_of_this_name`);
  assert.equal(status, 200);
  assert.equal(body.id, id);
  assert.deepEqual(
    [body.properties.firstname, body.properties.city, body.properties.zip, body.properties.hs_object_id],
    ['Jordan', 'Austin', null, id],
  );
  assert.equal('nothing_of_this_name' in body.properties, false);
  assert.equal('lastname' in body.properties, false);
  assert.equal(body.archived, false);
  const byEmail = await contacts('GET', `/${encodeURIComponent(email)}?idProperty=email&properties=city`);
  assert.deepEqual([byEmail.status, byEmail.body.id], [200, id]);
});

test('an email is kept in lower case and belongs to one contact', async (t) => {
  const { contact, contacts } = await subject(t);
  const { id, email } = await contact();
  const again = await contacts('POST', '', { properties: { email: email.toUpperCase(), firstname: 'Sam' } });
  assert.deepEqual([again.status, again.body.category], [409, 'CONFLICT']);
  assert.equal(/Existing ID: (\d+)/.exec(again.body.message)?.[1], id);
  const other = await contact();
  const taken = await contacts('PATCH', `/${other.id}`, { properties: { email } });
  assert.ok(taken.status === 409 || taken.status === 400, `${taken.status}`);
  assert.equal((await contacts('GET', `/${other.id}?properties=email`)).body.properties.email, other.email);
});

test('an update changes what it names, and an empty value clears', async (t) => {
  const { contact, contacts } = await subject(t);
  const { id } = await contact({ firstname: 'Jordan', city: 'Austin' });
  const updated = await contacts('PATCH', `/${id}`, { properties: { city: 'Dallas', firstname: '' } });
  assert.equal(updated.status, 200);
  const { properties } = (await contacts('GET', `/${id}?properties=firstname,city`)).body;
  assert.equal(properties.city, 'Dallas');
  assert.ok(properties.firstname === null || properties.firstname === '');
});

test('a contact that is not there is 404, to read and to update', async (t) => {
  const { contacts } = await subject(t);
  const nobody = encodeURIComponent(`${uniqueWord()}@example.com`);
  for (const [method, path] of [
    ['GET', `/${NOBODY}`],
    ['GET', `/${nobody}?idProperty=email`],
    ['PATCH', `/${NOBODY}`],
  ] as const) {
    const body = method === 'PATCH' ? { properties: { city: 'Dallas' } } : undefined;
    const answer = await contacts(method, path, body);
    assert.equal(answer.status, 404, `${method} ${path}`);
  }
});

test('an archived contact is gone', async (t) => {
  const { contact, contacts } = await subject(t);
  const { id } = await contact();
  assert.equal((await contacts('DELETE', `/${id}`)).status, 204);
  assert.equal((await contacts('GET', `/${id}`)).status, 404);
});

test('an unknown property and a wrong email are refused with the name of the property, and nothing is written', async (t) => {
  const { contact, contacts } = await subject(t);
  const { id } = await contact({ city: 'Austin' });
  const unknown = { city: 'Dallas', nothing_of_this_name: 'red' };
  const refused = await contacts('PATCH', `/${id}`, { properties: unknown });
  assert.deepEqual([refused.status, refused.body.category], [400, 'VALIDATION_ERROR']);
  assert.match(refused.body.message, /PROPERTY_DOESNT_EXIST/);
  assert.match(refused.body.message, /nothing_of_this_name/);
  assert.equal((await contacts('GET', `/${id}?properties=city`)).body.properties.city, 'Austin');
  const wrong = await contacts('POST', '', { properties: { email: 'nobody' } });
  assert.equal(wrong.status, 400);
  assert.match(wrong.body.message, /INVALID_EMAIL/);
});

test('a batch update tells unknown ids beside the results', async (t) => {
  const { contact, contacts } = await subject(t);
  const [one, two] = [await contact(), await contact()];
  const input = (id: string) => ({ id, properties: { city: 'Dallas' } });
  const some = await contacts('POST', '/batch/update', { inputs: [input(one.id), input(NOBODY)] });
  assert.deepEqual(
    [some.status, some.body.results.map(({ id }: { id: string }) => id), some.body.numErrors],
    [207, [one.id], 1],
  );
  assert.deepEqual(
    [some.body.errors[0].category, some.body.errors[0].context.ids],
    ['OBJECT_NOT_FOUND', [NOBODY]],
  );
  const all = await contacts('POST', '/batch/update', { inputs: [input(one.id), input(two.id)] });
  assert.deepEqual([all.status, all.body.results.length], [200, 2]);
  assert.equal((await contacts('GET', `/${two.id}?properties=city`)).body.properties.city, 'Dallas');
});

test('one wrong property fails a whole batch, and so do two inputs for one contact and 101 inputs', async (t) => {
  const { contact, contacts } = await subject(t);
  const [one, two] = [await contact({ city: 'Austin' }), await contact()];
  const good = { id: one.id, properties: { city: 'Dallas' } };
  const bad = { id: two.id, properties: { nothing_of_this_name: 'red' } };
  assert.equal((await contacts('POST', '/batch/update', { inputs: [good, bad] })).status, 400);
  assert.equal((await contacts('GET', `/${one.id}?properties=city`)).body.properties.city, 'Austin');
  assert.equal((await contacts('POST', '/batch/update', { inputs: [good, good] })).status, 400);
  const many = Array.from({ length: 101 }, (_, index) => ({ ...good, id: String(index + 1) }));
  assert.equal((await contacts('POST', '/batch/update', { inputs: many })).status, 400);
});

test('a batch read names what is not there', async (t) => {
  const { contact, contacts } = await subject(t);
  const { id } = await contact({ city: 'Austin' });
  const read = await contacts('POST', '/batch/read', {
    inputs: [{ id }, { id: NOBODY }],
    properties: ['city'],
    propertiesWithHistory: [],
  });
  assert.equal(read.status, 207);
  assert.deepEqual(
    read.body.results.map((one: { id: string; properties: { city: string } }) => [
      one.id,
      one.properties.city,
    ]),
    [[id, 'Austin']],
  );
  assert.deepEqual(
    [read.body.errors[0].category, read.body.errors[0].context.ids],
    ['OBJECT_NOT_FOUND', [NOBODY]],
  );
});

test('search finds by a property, in whatever case, and refuses a property that does not exist', async (t) => {
  const { contact, contacts, eventually } = await subject(t);
  const word = uniqueWord();
  const { id } = await contact({ lastname: word });
  const search = (propertyName: string, value: string) =>
    contacts('POST', '/search', {
      filterGroups: [{ filters: [{ propertyName, operator: 'EQ', value }] }],
      properties: ['lastname'],
      limit: 1,
    });
  const found = await eventually(
    async () => (await search('lastname', word.toUpperCase())).body.results as { id: string }[],
  );
  assert.deepEqual(
    found.map((one) => one.id),
    [id],
  );
  assert.deepEqual((await search('lastname', `${word}x`)).body, { total: 0, results: [] });
  assert.equal((await search('nothing_of_this_name', 'x')).status, 400);
});

test('a contact that is deleted by GDPR is there no more, by id, email or among the archived', async (t) => {
  const { contact, contacts } = await subject(t);
  const { id, email } = await contact();
  assert.equal((await contacts('POST', '/gdpr-delete', { objectId: id })).status, 204);
  for (const path of [`/${id}`, `/${id}?archived=true`, `/${encodeURIComponent(email)}?idProperty=email`])
    assert.equal((await contacts('GET', path)).status, 404, path);
  assert.equal((await contacts('POST', '/gdpr-delete', { objectId: '' })).status, 400);
});
