import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startDesk } from '../../../tests/harness/desk.ts';
import { startIdentityProvider } from '../../../tests/harness/identityProvider.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { freePort } from '../../../tools/local/ports.ts';
import { LINK_OVER } from './links.ts';
import { RETURN_PATH } from './provider.ts';

const server = await sharedServer();
const { database } = server.deps;
const port = (await freePort())!;
const url = `http://localhost:${port}`;
const identities = await startIdentityProvider(url + RETURN_PATH);
const provider = { ...identities, name: 'School' };
const desk = await startDesk(
  {
    ...server,
    deps: {
      ...server.deps,
      config: { ...server.deps.config, desk: { url, host: 'localhost', port, provider } },
    },
  },
  'live',
  { port },
);
after(() => Promise.all([desk.close(), identities.close()]));

/** A browser that follows redirects between the desk and the provider, and keeps their cookies apart. */
function wanderer() {
  const jars = new Map<string, Map<string, string>>();
  async function go(address: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(address);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, cookie },
    });
    for (const given of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(given)!;
      if (value === '') jar.delete(name!);
      else jar.set(name!, value!);
    }
    return response;
  }
  const begin = async (token?: string) => {
    const response = await go(`${url}/api/desk/enter/provider`, {
      method: 'POST',
      headers: { origin: url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: JSON.stringify(token === undefined ? {} : { token }),
    });
    return (await response.json()) as { message?: string; data?: { url: string } };
  };
  /** Signs in at the provider. Returns the URL to which the provider redirects the browser. */
  const askProvider = async (address: string) => {
    let next = address;
    while (!next.startsWith(url)) {
      const response = await go(next);
      next = new URL(response.headers.get('location')!, next).href;
    }
    return next;
  };
  return {
    begin,
    askProvider,
    go,
    /** Signs in. Returns the name of the signed-in person, or the reason why nobody is signed in. */
    async signIn(token?: string): Promise<string> {
      const { data, message } = await begin(token);
      if (!data) return message!;
      const back = await go(await askProvider(data.url));
      assert.equal(back.status, 303);
      const refused = new URL(back.headers.get('location')!, url).searchParams.get('refused');
      return refused ?? this.me();
    },
    async me(): Promise<string> {
      const answer = (await (await go(`${url}/api/desk/me`)).json()) as { data?: { name: string } };
      return answer.data?.name ?? 'nobody';
    },
  };
}

test('an account is bound by a sign-in link, and then signs in by itself, without a passkey', async () => {
  identities.signsIn('account-of-ada');
  assert.equal(await wanderer().signIn(), 'unknown');
  const token = await desk.link('Ada Account', 'finance');
  assert.equal(await wanderer().signIn(token), 'Ada Account');
  assert.equal(await wanderer().signIn(), 'Ada Account');
  assert.equal(await wanderer().signIn(token), LINK_OVER);
  const { rows } =
    await sql`select name, action, outcome from staff_event where action = 'enterByProvider' and name = 'Ada Account'`.execute(
      database,
    );
  assert.equal(rows.length, 2);
});

test('an account is one person’s, and nobody’s once the access has ended', async () => {
  identities.signsIn('account-of-ben');
  assert.equal(await wanderer().signIn(await desk.link('Ben Account', 'staff')), 'Ben Account');
  const other = await desk.link('Cleo Account', 'staff');
  assert.equal(await wanderer().signIn(other), 'taken');
  identities.signsIn('account-of-cleo');
  assert.equal(await wanderer().signIn(other), 'Cleo Account', 'a refusal uses no link up');
  await sql`update staff set ended_at = now() where name = 'Cleo Account'`.execute(database);
  assert.equal(await wanderer().signIn(), 'unknown');
});

test('only the browser that has begun a sign-in ends it, once, and in time', async () => {
  identities.signsIn('account-of-dora');
  await wanderer().signIn(await desk.link('Dora Account', 'staff'));
  const [own, foreign] = [wanderer(), wanderer()];
  const refusal = (response: Response) =>
    new URL(response.headers.get('location')!, url).searchParams.get('refused');
  const { data } = await own.begin();
  const back = await own.askProvider(data!.url);
  await foreign.begin();
  assert.equal(refusal(await foreign.go(back)), 'late');
  assert.equal(await foreign.me(), 'nobody');
  assert.equal(refusal(await own.go(back)), null);
  assert.equal(await own.me(), 'Dora Account');
  assert.equal(refusal(await own.go(back)), 'late', 'it is used up');

  const late = wanderer();
  const begun = await late.begin();
  const returned = await late.askProvider(begun.data!.url);
  await sql`update staff_turn set expires_at = now()`.execute(database);
  assert.equal(refusal(await late.go(returned)), 'late');
  const denied = wanderer();
  const { searchParams } = new URL((await denied.begin()).data!.url);
  const said = { error: 'access_denied', state: searchParams.get('state')!, iss: identities.issuer };
  const cancelled = `${url}${RETURN_PATH}?${new URLSearchParams(said)}`;
  assert.equal(refusal(await denied.go(cancelled)), 'cancelled');
  const wrong = wanderer();
  const answered = new URL(await wrong.askProvider((await wrong.begin()).data!.url));
  answered.searchParams.set('code', 'another');
  assert.equal(refusal(await wrong.go(answered.href)), 'failed');
  assert.equal(await denied.me(), 'nobody');
});

test('without a provider there is no such sign-in', async (t) => {
  const plain = await startDesk(server);
  t.after(() => plain.close());
  assert.equal((await plain.browser().call('enterByProvider', { body: {} })).status, 404);
  assert.equal((await fetch(plain.url + RETURN_PATH, { redirect: 'manual' })).status, 404);
});

test('a page elsewhere that loads the address of return uses up nobody’s sign-ins', async (t) => {
  const place = (await freePort())!;
  const config = {
    ...server.deps.config,
    limits: { deskSignInsPerAddress: { count: 3, minutes: 10 } } as never,
    desk: { url: `http://localhost:${place}`, host: 'localhost', port: place, provider },
  };
  const limited = await startDesk({ ...server, deps: { ...server.deps, config } }, 'live', { port: place });
  t.after(() => limited.close());
  for (let count = 0; count < 4; count++)
    await fetch(limited.url + RETURN_PATH, {
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'cross-site' },
    });
  const { status } = await limited.browser().call('getPasskeyOptions', { body: { isNew: false } });
  assert.equal(status, 200);
});
