import assert from 'node:assert/strict';
import { test } from 'node:test';
import { subject } from '../subject.ts';

interface Property {
  name: string;
  label: string;
  type: string;
  fieldType: string;
}

test('the contact properties are listed with their names and types', async (t) => {
  const { request } = await subject(t);
  const { status, body } = await request('GET', '/crm/properties/VERSION/contacts');
  assert.equal(status, 200);
  const properties = new Map((body.results as Property[]).map((property) => [property.name, property]));
  for (const name of ['firstname', 'lastname', 'email', 'address', 'city', 'state', 'zip', 'country']) {
    const { label, type, fieldType } = properties.get(name) ?? assert.fail(`there is no ${name}`);
    assert.deepEqual([typeof label, type, typeof fieldType], ['string', 'string', 'string'], name);
  }
  assert.equal(properties.get('createdate')?.type, 'datetime');
  assert.equal((await request('GET', '/crm/properties/VERSION/contacts/email')).body.name, 'email');
  assert.equal((await request('GET', '/crm/properties/VERSION/contacts/nothing_of_this_name')).status, 404);
});

test('a wrong token is 401', async (t) => {
  const { request } = await subject(t);
  const { status } = await request('GET', '/crm/objects/VERSION/contacts/1', undefined, 'pat-na1-wrong');
  assert.equal(status, 401);
});

test('the account says of what type it is, and the token what it may do', async (t) => {
  const { request, accessToken } = await subject(t);
  const account = await request('GET', '/account-info/VERSION/details');
  const { accountType, portalId } = account.body;
  assert.deepEqual([account.status, typeof accountType, Number.isInteger(portalId)], [200, 'string', true]);
  const token = await request('POST', '/oauth/v2/private-apps/get/access-token-info', {
    tokenKey: accessToken,
  });
  assert.equal(token.status, 200);
  for (const scope of ['crm.objects.contacts.read', 'crm.objects.contacts.write'])
    assert.ok(token.body.scopes.includes(scope), scope);
});
