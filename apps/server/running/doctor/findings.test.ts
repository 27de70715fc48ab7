import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { defaultFieldRules } from '#core/crmFields.ts';
import { remedySentence } from '../../../staff/sentences/failures.ts';
import { neededProperties as neededBy } from '../../crm/hubspot/properties.ts';
import type { Answer } from '../../providers/answer.ts';
import type { Versions } from '../../providers/storage/s3Storage.ts';
import { type Endpoint, stripeApiVersion } from '../../providers/stripe/account.ts';
import { webhookEvents } from '../../providers/stripe/webhookEvents.ts';
import { CLAIMED_ADDRESS } from './arrival.ts';
import type { DatabaseState } from './askDatabase.ts';
import type { Facts } from './examine.ts';
import type { Finding } from './finding.ts';
import { findingsOf } from './findings.ts';

const neededProperties = neededBy(defaultFieldRules);

const endpoint: Endpoint = {
  id: 'we_1',
  url: 'https://join.society.example/api/webhooks/stripe',
  enabled: true,
  events: webhookEvents,
  apiVersion: stripeApiVersion,
};
const domain = { enabled: true, applePay: true, reason: null };
const forbidden = { refused: { status: 403, message: 'no permission' } };
const unauthorized = { refused: { status: 401, message: 'not a key' } };
const down = { down: 'no connection' };

const migrated: DatabaseState = {
  waiting: 0,
  newer: null,
  mayMigrate: true,
  foreign: null,
  link: { address: '10.0.0.5', tls: 'none' },
};

/** Facts of a live installation in which nothing is missing. */
const live: Facts = {
  standIns: { stripe: false, hubspot: false },
  mode: 'live',
  publicUrl: 'https://join.society.example',
  webhookUrls: ['https://join.society.example/api/webhooks/stripe'],
  hasLinkSecret: true,
  hasDocumentKey: true,
  trustProxy: ['10.0.0.1'],
  arrival: {
    said: { address: '203.0.113.9', peer: '10.0.0.1', forwarded: `${CLAIMED_ADDRESS}, 203.0.113.9` },
  },
  desk: { url: 'https://desk.society.example', answer: { said: null } },
  keys: { live: true, restricted: false, publishableLive: true },
  hubspotVersion: '2026-09',
  societyFile: 'society.yaml',
  societyFaults: [],
  neededProperties,
  laterProperties: ['upgrade_name', 'donation_amount', 'store_items'],
  database: { said: migrated },
  absent: { said: { products: [], programmes: [] } },
  stripe: {
    account: { said: { id: 'acct_1', mayCharge: true } },
    reads: { Customers: { said: null }, Refunds: { said: null }, Disputes: { said: null } },
    writes: { Customers: { said: 'may' }, Refunds: { said: 'may' } },
    clockAheadMs: { said: 700 },
    publishable: { said: 'same' },
    endpoints: { said: [endpoint] },
    domain: { said: domain },
    offersLink: { said: false },
  },
  hubspot: {
    properties: { said: new Set(neededProperties) },
    contacts: { said: null },
    scopes: { said: new Set(['crm.objects.contacts.read', 'crm.objects.contacts.write', 'files']) },
    tried: null,
    account: { said: '111' },
  },
  keptAccount: { said: '111' },
  ruleRefusals: { said: [] },
  storage: {
    place: '/data/documents',
    answer: { said: { unreadable: null, versions: null } },
    mayRefuseChecksums: false,
    isOnlyLarge: false,
  },
  attachDocuments: true,
  mail: {
    server: 'mail.society.example:465',
    isStandIn: false,
    connection: { said: null },
    domain: {
      name: 'society.example',
      spf: { said: ['v=spf1 include:mail.example -all'] },
      dkim: { selectors: ['google'], isSet: false, found: { said: 'google' } },
      dmarc: { said: 'v=DMARC1; p=reject' },
    },
  },
};
const local: Partial<Facts> = {
  mode: 'local',
  publicUrl: 'http://127.0.0.1:3000',
  webhookUrls: ['http://127.0.0.1:3000/api/webhooks/stripe'],
  hasLinkSecret: false,
  hasDocumentKey: false,
  keys: { live: false, restricted: false, publishableLive: false },
};
const stripe = (change: Partial<Facts['stripe']>): Partial<Facts> => ({
  stripe: { ...live.stripe, ...change },
});
const hubspot = (change: Partial<Facts['hubspot']>): Partial<Facts> => ({
  hubspot: { ...live.hubspot, ...change },
});
const keys = (change: Partial<Facts['keys']>): Partial<Facts> => ({ keys: { ...live.keys, ...change } });
const mailDomain = (change: Partial<NonNullable<NonNullable<Facts['mail']>['domain']>>): Partial<Facts> => ({
  mail: { ...live.mail!, domain: { ...live.mail!.domain!, ...change } },
});
const versions = (answer: Answer<Versions>): Partial<Facts> => ({
  storage: { ...live.storage, answer: { said: { unreadable: null, versions: answer } } },
});
const dkim = { selectors: ['default', 'google'], isSet: false, found: { said: null } };
const endpoints = (...changes: Partial<Endpoint>[]) =>
  stripe({ endpoints: { said: changes.map((change) => ({ ...endpoint, ...change })) } });

/** Returns the findings about something, as staff read them. */
function found(change: Partial<Facts>, about: string): [Finding['standing'], string][] {
  return findingsOf({ ...live, ...change })
    .filter((finding) => finding.about === about)
    .map(({ standing, text, remedies }) => [standing, text + remedySentence(...remedies)]);
}

test('a connection to the database needs TLS where it leaves the private network', () => {
  const finding = (address: string | null, tls: DatabaseState['link']['tls'], change: Partial<Facts> = {}) =>
    found({ database: { said: { ...migrated, link: { address, tls } } }, ...change }, 'Database connection');
  const asked = /sslmode=verify-full&sslrootcert=/;
  for (const near of [
    null,
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '172.31.0.9',
    '192.168.1.2',
    '100.64.0.1',
    '169.254.3.4',
    'fd12::1',
    'fe80::1%eth0',
    '::ffff:10.1.2.3',
  ])
    for (const tls of ['none', 'unverified', 'verified'] as const)
      assert.equal(finding(near, tls)[0]![0], 'ok', `${near} ${tls}`);
  for (const far of ['203.0.113.9', '172.32.0.1', '2001:db8::5', '::ffff:203.0.113.9']) {
    assert.equal(finding(far, 'verified')[0]![0], 'ok', far);
    for (const [tls, sentence] of [
      ['none', 'is not encrypted'],
      ['unverified', 'certificate is not verified'],
    ] as const) {
      const [[standing, text] = []] = finding(far, tls);
      assert.equal(standing, 'missing');
      assert.ok(text!.includes(sentence) && text!.includes(far) && asked.test(text!), text!);
      assert.equal(finding(far, tls, local)[0]![0], 'ok', 'in local mode nothing is missing');
      assert.equal(finding(far, tls, { ...local, mode: 'live' })[0]![0], 'missing');
    }
  }
  assert.deepEqual(found({ database: down }, 'Database connection'), []);
});

test('where the database or the file says nothing, what was sold is no finding', () => {
  assert.deepEqual(
    [found({ absent: down }, 'What was sold'), found({ absent: null }, 'What was sold')],
    [[], []],
  );
});

test('a live account in order misses nothing, and owns up to what no key can ask', () => {
  const others = findingsOf(live).filter(({ standing }) => standing !== 'ok');
  assert.deepEqual(
    others.map(({ standing, about }) => [standing, about]),
    [['could not be checked', 'Webhook secret']],
  );
});

const unknown = 'could not be checked';
const cases: [Partial<Facts>, string, Finding['standing'], RegExp][] = [
  [{ publicUrl: 'http://join.society.example' }, 'Public address', 'missing', /https:\/\//],
  [{ desk: null }, 'Desk', 'ok', /DESK_URL is not set/],
  [
    { desk: { url: 'https://desk.society.example', answer: down } },
    'Desk',
    'could not be checked',
    /does not answer/,
  ],
  [
    { desk: { url: 'https://desk.society.example', answer: forbidden } },
    'Desk',
    'missing',
    /is not the desk/,
  ],
  [{ mode: 'local' }, 'Mode', 'missing', /MODE=live/],
  [{ hasDocumentKey: false }, 'Document key', 'missing', /not encrypted/],
  [
    {
      storage: {
        ...live.storage,
        place: '/documents',
        answer: { said: { unreadable: 'Documents need the key x.', versions: null } },
      },
    },
    'Documents',
    'missing',
    /need the key x/,
  ],
  [versions({ said: 'none' }), 'Versions of documents', 'ok', /keeps none/],
  [versions({ said: 'expire' }), 'Versions of documents', 'ok', /lifecycle rule/],
  [versions({ said: 'stay' }), 'Versions of documents', 'missing', /NoncurrentVersionExpiration/],
  [
    versions(forbidden),
    'Versions of documents',
    'could not be checked',
    /does not tell .*NoncurrentVersionExpiration/,
  ],
  [{ hasLinkSecret: false }, 'Link secret', 'missing', /LINK_SECRET/],
  [local, 'Link secret', 'ok', /kept in the database/],
  [{ societyFaults: ['society.yaml:3: x', 'y'] }, 'Society file', 'missing', /:3: x And 1 more/],
  [{ mail: null }, 'Mail server', 'ok', /MAIL=elsewhere/],
  [
    { mail: { ...live.mail!, connection: { down: '535 no' } } },
    'Mail server',
    'missing',
    /465 does not let us send \(535 no\).*SMTP_URL/,
  ],
  [{ mail: { ...live.mail!, isStandIn: true, domain: null } }, 'Mail server', 'ok', /stand-in.*SMTP_URL/],
  [mailDomain({ spf: { said: [] } }), 'SPF', 'missing', /society\.example does not say.*v=spf1/],
  [mailDomain({ spf: { said: ['v=spf1 -all', 'v=spf1 ~all'] } }), 'SPF', 'missing', /2 SPF records/],
  [mailDomain({ spf: { said: ['v=spf1 mx +all'] } }), 'SPF', 'missing', /everybody/],
  [mailDomain({ spf: { said: ['v=spf1 mx all'] } }), 'SPF', 'missing', /everybody/],
  [mailDomain({ spf: { said: ['v=spf1 a:all.example -all'] } }), 'SPF', 'ok', /-all/],
  [mailDomain({ dmarc: { said: null } }), 'DMARC', 'missing', /_dmarc\.society\.example/],
  [mailDomain({ dkim }), 'DKIM', unknown, /MAIL_DKIM_SELECTOR/],
  [
    mailDomain({ dkim: { ...dkim, selectors: ['own'], isSet: true } }),
    'DKIM',
    'missing',
    /own\._domainkey\.society\.example has no key/,
  ],
  [mailDomain({ spf: down }), 'SPF', unknown, /no connection/],
  [{ database: down }, 'Database', 'missing', /no connection.*DATABASE_URL/],
  [{ database: { said: { ...migrated, waiting: 2 } } }, 'Database', 'ok', /2 migrations wait/],
  [{ database: { said: { ...migrated, waiting: 1, mayMigrate: false } } }, 'Database', 'missing', /CREATE/],
  [
    { database: { said: { ...migrated, newer: '9999-x.sql', foreign: 'It is foreign.' } } },
    'Database',
    'missing',
    /It is foreign\. Run the program/,
  ],
  [
    { database: { said: { ...migrated, newer: '9999-x.sql' } } },
    'Database',
    'ok',
    /newer version has migrated it, to 9999-x\.sql/,
  ],

  [stripe({ account: unauthorized }), 'Stripe key', 'missing', /refuses STRIPE_SECRET_KEY/],
  [stripe({ account: down }), 'Stripe key', 'missing', /does not answer \(no connection\)/],
  [
    stripe({ account: { said: { id: 'acct_1', mayCharge: false } } }),
    'Stripe key',
    'missing',
    /may not charge/,
  ],
  [stripe({ account: forbidden }), 'Stripe key', unknown, /may charge/],
  [keys({ publishableLive: false }), 'Publishable key', 'missing', /both from the same page/],
  [stripe({ publishable: unauthorized }), 'Publishable key', 'missing', /refuses STRIPE_PUBLISHABLE_KEY/],
  [stripe({ publishable: { said: 'other' } }), 'Publishable key', 'missing', /another account/],
  [stripe({ publishable: { said: 'unproven' } }), 'Publishable key', unknown, /first payment/],
  [stripe({ publishable: down }), 'Publishable key', unknown, /no connection/],
  [
    stripe({ reads: { Customers: { said: null }, Refunds: forbidden, Disputes: forbidden } }),
    'Key permissions',
    'missing',
    /may not read Refunds and Disputes/,
  ],
  [stripe({ reads: { Refunds: down } }), 'Key permissions', unknown, /Refunds/],
  [
    stripe({ reads: { Refunds: { refused: { status: 400, message: 'x' } } } }),
    'Key permissions',
    'ok',
    /Refunds/,
  ],

  [endpoints(), 'Webhook endpoint', 'missing', /None is registered for https:\/\/join/],
  [endpoints({ url: 'https://other.example/hook' }), 'Webhook endpoint', 'missing', /None is registered/],
  [endpoints({ enabled: false }), 'Webhook endpoint', 'missing', /we_1 .* is disabled/],
  [
    endpoints({ events: webhookEvents.slice(2) }),
    'Webhook endpoint',
    'missing',
    /is not sent payment_intent.succeeded and payment_intent.payment_failed\./,
  ],
  [endpoints({ events: ['*'] }), 'Webhook endpoint', 'ok', /every event/],
  [
    endpoints({ apiVersion: '2019-12-03' }),
    'Webhook endpoint',
    'missing',
    /2019-12-03, which cannot be changed/,
  ],
  [endpoints({ apiVersion: null }), 'Webhook endpoint', 'missing', /default API version/],
  [stripe({ endpoints: forbidden }), 'Webhook endpoint', unknown, /may not list/],
  [stripe({ endpoints: down }), 'Webhook endpoint', unknown, /no connection/],
  [{ ...local, ...endpoints() }, 'Webhook endpoint', unknown, /stripe listen --forward-to http:\/\/127/],

  [stripe({ domain: { said: null } }), 'Apple Pay', 'missing', /join.society.example is not registered/],
  [stripe({ domain: { said: { ...domain, enabled: false } } }), 'Apple Pay', 'missing', /switched off/],
  [
    stripe({ domain: { said: { enabled: true, applePay: false, reason: 'No file.' } } }),
    'Apple Pay',
    'missing',
    /not active for Apple Pay \(No file\)\./,
  ],
  [stripe({ offersLink: { said: false } }), 'Link', 'ok', /^It is off in the account\.$/],
  [stripe({ offersLink: { said: true } }), 'Link', 'ok', /is on .* the card forms switch it off/],
  [stripe({ offersLink: { said: null } }), 'Link', unknown, /of its own/],
  [stripe({ offersLink: forbidden }), 'Link', unknown, /may not read payment method configurations/],
  [stripe({ domain: forbidden }), 'Apple Pay', unknown, /may not list/],
  [local, 'Apple Pay', unknown, /public https address/],

  [hubspot({ properties: down, contacts: down }), 'HubSpot token', 'missing', /does not answer/],
  [
    hubspot({ properties: unauthorized, contacts: unauthorized }),
    'HubSpot token',
    'missing',
    /refuses HUBSPOT_ACCESS_TOKEN/,
  ],
  [
    hubspot({ scopes: { said: new Set(['crm.objects.contacts.read']) } }),
    'HubSpot scopes',
    'missing',
    /lacks crm.objects.contacts.write and files\./,
  ],
  [
    hubspot({
      contacts: forbidden,
      scopes: { said: null },
      tried: { write: { said: null }, files: { said: null } },
    }),
    'HubSpot scopes',
    'missing',
    /lacks crm.objects.contacts.read\./,
  ],
  [
    hubspot({ scopes: forbidden, tried: { write: { said: null }, files: { said: null } } }),
    'HubSpot scopes',
    'ok',
    /Calls that want crm.objects.contacts.read, crm.objects.contacts.write and files are answered/,
  ],
  [
    hubspot({ scopes: forbidden, tried: { write: forbidden, files: forbidden } }),
    'HubSpot scopes',
    'missing',
    /lacks crm.objects.contacts.write and files\. .*Service keys/,
  ],
  [
    hubspot({ scopes: forbidden, tried: { write: down, files: { said: null } } }),
    'HubSpot scopes',
    unknown,
    /Whether crm.objects.contacts.write is granted/,
  ],
  [
    { absent: { said: { products: [{ id: 2, name: 'Membership', orders: 1 }], programmes: [] } } },
    'What was sold',
    'missing',
    /^The society's file has no product 2 \(Membership\), which is in 1 order that was paid or is open\. Put it back into society\.yaml/,
  ],
  [
    {
      ruleRefusals: {
        said: [
          { reason: 'A rule in HubSpot wants phone.', joins: 3 },
          { reason: 'A rule in HubSpot wants state.', joins: 1 },
        ],
      },
    },
    'HubSpot rules',
    'missing',
    /^A rule in HubSpot wants phone\. It holds up 3 joins, until they are sent again\. And 1 more\. Afterwards: .*contacts failed$/,
  ],
  [{ ruleRefusals: down }, 'HubSpot rules', unknown, /not known/],
  [hubspot({ properties: forbidden }), 'HubSpot properties', unknown, /crm.schemas.contacts.read/],
  [hubspot({ properties: { said: null } }), 'HubSpot properties', 'missing', /HUBSPOT_API_VERSION/],
  [
    hubspot({ properties: { said: new Set(neededProperties.filter((name) => name !== 'paid_at')) } }),
    'HubSpot properties',
    'missing',
    /no paid_at\. Create it.* refuses joins that write there.*contacts retry all$/,
  ],
  [
    hubspot({
      properties: { said: new Set(neededProperties.filter((name) => !/^(upgrade|store)_/.test(name))) },
    }),
    'HubSpot properties',
    'missing',
    /no upgrade_name and store_items\. Create them.* Until then joins are told without them\.$/,
  ],
];
test('each fact is one finding, as staff read it', () => {
  for (const [change, about, standing, text] of cases) {
    const [[first, sentence] = [], ...more] = found(change, about);
    assert.equal(first, standing, sentence ?? about);
    assert.match(sentence ?? '', text);
    assert.deepEqual(more, []);
  }
});

test('a key that may not write is told so, with the page that makes one that may', () => {
  const refused = { refused: { status: 403, message: 'No.' } };
  const change = stripe({ writes: { Customers: { said: 'may' }, Refunds: refused } });
  const [[standing, text] = [], ...more] = found(change, 'Key permissions');
  assert.deepEqual([standing, more], ['missing', []]);
  assert.match(
    text!,
    /may not write Refunds\. .*apikeys\/create\?name=Induct&permissions%5B%5D=rak_customer_write&/,
  );
});

test('a clock is in order to a minute, and told with its side beyond', () => {
  const clock = (ms: number) => found(stripe({ clockAheadMs: { said: ms } }), 'Clock')[0]!;
  assert.deepEqual(clock(-1_400), ['ok', "Within 1 s of Stripe's."]);
  assert.deepEqual([clock(59_000)[0], clock(-60_000)[0]], ['ok', 'ok']);
  assert.match(clock(90_000).join(' '), /^missing This machine is 90 seconds ahead of Stripe's/);
  assert.match(clock(-400_000).join(' '), /^missing This machine is 400 seconds behind Stripe's/);
  assert.equal(found(stripe({ clockAheadMs: { down: 'no answer' } }), 'Clock')[0]![0], unknown);
});

test('everything wrong with one endpoint is told, and a second endpoint in order does not hide it', () => {
  const wrong = { enabled: false, apiVersion: 'old', events: [] };
  const standings = found(endpoints(wrong, { id: 'we_2' }), 'Webhook endpoint').map(([standing]) => standing);
  assert.deepEqual(standings, ['missing', 'missing', 'missing', 'ok']);
});

test('when the key is refused, the rest of the provider is one line and no guess', () => {
  const abouts = findingsOf({ ...live, ...stripe({ account: unauthorized }), ...hubspot({ contacts: down }) })
    .slice(11, -4)
    .map(({ standing, about }) => [standing, about]);
  assert.deepEqual(abouts, [
    ['missing', 'Stripe key'],
    [unknown, 'The rest of Stripe'],
    ['missing', 'HubSpot token'],
    [unknown, 'The rest of HubSpot'],
  ]);
});

test('a token of another HubSpot account than the one whose contacts the database has is missing', () => {
  assert.deepEqual(found({}, 'HubSpot account'), [['ok', 'It is 111, as before.']]);
  const [other] = found({ keptAccount: { said: '222' } }, 'HubSpot account');
  assert.match(
    other!.join(),
    /^missing,HUBSPOT_ACCESS_TOKEN is of account 111, .* of 222\. .* contacts account 111$/,
  );
  assert.deepEqual(found({ keptAccount: { said: null } }, 'HubSpot account'), []);
  assert.deepEqual(found(hubspot({ account: { down: 'away' } }), 'HubSpot account'), []);
});

test('a stand-in needs neither an endpoint nor a domain', () => {
  const standIn = { ...local, ...endpoints(), standIns: { stripe: true, hubspot: true } };
  assert.match(found(standIn, 'Webhook endpoint')[0]!.join(), /^ok,The local start/);
  assert.match(found(standIn, 'Apple Pay')[0]!.join(), /^ok,/);
});

test('every property that the documents name is needed, and every needed one is named there', () => {
  const document = readFileSync(new URL('../../../../docs/reference.md', import.meta.url), 'utf8');
  const table = document.slice(document.indexOf('| property |'));
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
  const named = rows.flatMap((row) =>
    [...row.split('|')[1]!.matchAll(/`([a-z_0-9]+)`/g)].map((match) => match[1]!),
  );
  assert.deepEqual(named.sort(), [...neededProperties].sort());
});

test('documents that cannot be kept are missing, with the place, the reason, and what may help', () => {
  const answer = { down: 'AccessDenied: no' };
  const textOf = (change: Partial<Facts['storage']>) => {
    const storage = { ...live.storage, place: 'the bucket documents/', answer, ...change };
    const [[standing, text]] = found({ storage }, 'Documents') as [[string, string]];
    assert.equal(standing, 'missing');
    assert.match(text, /the bucket documents\/.* \(AccessDenied: no\)/);
    return text;
  };
  assert.match(textOf({}), /^They cannot be kept .*Check STORAGE_URL.*bucket\.$/);
  assert.match(textOf({ mayRefuseChecksums: true }), /^They .*bucket\. If .*checksums=required/);
  assert.match(textOf({ isOnlyLarge: true }), /^Files up to 5 MiB can be kept .*cannot \([^)]*\)\.$/);
});

test('the scope for files is only asked for where documents are attached', () => {
  const scopes = { said: new Set(['crm.objects.contacts.read', 'crm.objects.contacts.write']) };
  const standings = (attachDocuments: boolean) =>
    found({ ...hubspot({ scopes }), attachDocuments }, 'HubSpot scopes').map(([standing]) => standing);
  assert.deepEqual([standings(true), standings(false)], [['missing'], ['ok']]);
});
