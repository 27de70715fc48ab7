import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigFaults, readConfig, settingsOf } from './config.ts';
import { addressesOf, placeOf } from './databaseUrl.ts';

const emulated = {
  DATABASE_URL: 'postgres://localhost/x',
  STRIPE_EMULATOR_URL: 'http://127.0.0.1:1',
  HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:2',
  MAIL_EMULATOR_URL: 'smtp://127.0.0.1:3',
};
const testKeys = {
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
};
const mail = {
  SMTP_URL: 'smtps://post:p%40ss@mail.society.example',
  MAIL_FROM: 'Honor Society <join@society.example>',
};
const real = { DATABASE_URL: 'postgres://localhost/x', ...testKeys, HUBSPOT_ACCESS_TOKEN: 'pat-1', ...mail };
const live = {
  ...real,
  MODE: 'live',
  STRIPE_SECRET_KEY: 'sk_live_1',
  STRIPE_PUBLISHABLE_KEY: 'pk_live_1',
  LINK_SECRET: 'x'.repeat(32),
  PUBLIC_URL: 'https://join.society.example',
  TRUST_PROXY: 'none',
};

function faultsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
    return '';
  } catch (error) {
    if (error instanceof ConfigFaults) return error.message;
    throw error;
  }
}

test('by default everything is emulated, on port 3000 of this machine', () => {
  const config = readConfig(emulated);
  assert.deepEqual(
    [config.host, config.port, config.mode, config.providers.emulated, config.publicUrl],
    ['127.0.0.1', 3000, 'local', true, 'http://127.0.0.1:3000'],
  );
});

test('the desk listens where its address leads', () => {
  const deskOf = (env: Record<string, string>) => readConfig({ ...emulated, ...env }).desk;
  const url = 'http://localhost:3150';
  assert.equal(deskOf({}), null);
  assert.deepEqual(deskOf({ DESK_URL: url }), { url, host: '127.0.0.1', port: 3150, provider: null });
  assert.deepEqual(deskOf({ DESK_URL: url, DESK_PORT: '3151', HOST: '192.168.1.5' }), {
    url,
    host: '127.0.0.1',
    port: 3151,
    provider: null,
  });
  // HOST in a container that publishes its port.
  assert.equal(deskOf({ DESK_URL: url, HOST: '0.0.0.0' })!.host, '0.0.0.0');
  assert.equal(deskOf({ DESK_URL: url, HOST: '::' })!.host, '::');
});

test('a live desk listens behind its proxy, at an address of its own', () => {
  const deskOf = (env: Record<string, string>) => readConfig({ ...live, ...env }).desk;
  const url = 'https://desk.society.example';
  assert.equal(deskOf({}), null);
  assert.deepEqual(deskOf({ DESK_URL: url, HOST: '0.0.0.0' }), {
    url,
    host: '0.0.0.0',
    port: 3100,
    provider: null,
  });
  assert.equal(deskOf({ DESK_URL: url, DESK_PORT: '3101' })!.port, 3101);
  // A staging installation: https, but not live.
  assert.deepEqual(readConfig({ ...emulated, DESK_URL: url, HOST: '0.0.0.0' }).desk, {
    url,
    host: '0.0.0.0',
    port: 3100,
    provider: null,
  });
});

test('an identity provider has a name, and all of its settings', () => {
  const settings = {
    DESK_URL: 'https://desk.society.example',
    DESK_OIDC_ISSUER: 'https://accounts.google.com',
    DESK_OIDC_CLIENT_ID: 'id',
    DESK_OIDC_CLIENT_SECRET: 'secret',
  };
  const nameOf = (issuer: string) =>
    readConfig({ ...live, ...settings, DESK_OIDC_ISSUER: issuer }).desk!.provider!.name;
  assert.equal(nameOf('https://accounts.google.com'), 'Google');
  assert.equal(nameOf('https://login.microsoftonline.com/tenant/v2.0'), 'Microsoft');
  assert.equal(nameOf('https://id.school.example'), 'id.school.example');
  for (const name of Object.keys(settings).slice(1))
    assert.match(faultsOf({ ...live, ...settings, [name]: '' }), /set all three, or none/);
});

test('browsers reach the stand-in for Stripe where the server does, unless told; with real keys there is none', () => {
  const browserUrl = (env: Record<string, string>) => readConfig(env).providers.stripe.browserUrl;
  assert.equal(browserUrl(emulated), 'http://127.0.0.1:1');
  assert.equal(
    browserUrl({ ...emulated, STRIPE_EMULATOR_BROWSER_URL: 'https://cards.example/' }),
    'https://cards.example',
  );
  assert.equal(browserUrl(real), null);
});

test('with all keys set everything is real', () => {
  const { providers } = readConfig(real);
  assert.deepEqual(
    [providers.emulated, providers.stripe.url, providers.hubspot.url],
    [false, null, 'https://api.hubapi.com'],
  );
  assert.equal(readConfig(live).mode, 'live');
});

test('a database may have several hosts, each with a port or without', () => {
  const databaseUrl = 'postgres://u:p%40@a,[::1]:5433,b:5434/x?target_session_attrs=read-write';
  assert.equal(readConfig({ ...emulated, DATABASE_URL: databaseUrl }).databaseUrl, databaseUrl);
  assert.deepEqual(addressesOf(databaseUrl), [
    'postgres://u:p%40@a/x?target_session_attrs=read-write',
    'postgres://u:p%40@[::1]:5433/x?target_session_attrs=read-write',
    'postgres://u:p%40@b:5434/x?target_session_attrs=read-write',
  ]);
  assert.equal(placeOf(databaseUrl), 'a:5432, [::1]:5433, b:5434');
  assert.deepEqual(addressesOf('postgres://u:a,b@c/x'), ['postgres://u:a,b@c/x']);
});

test('setup makes the secret of webhooks, and does without; nothing else does', () => {
  const { STRIPE_WEBHOOK_SECRET: _, ...without } = real;
  assert.equal(readConfig(settingsOf('setup', without)).providers.stripe.secretKey, real.STRIPE_SECRET_KEY);
  assert.throws(() => readConfig(settingsOf('doctor', without)), ConfigFaults);
  assert.equal(settingsOf('setup', real), real);
});

const refused: [Record<string, string>, RegExp][] = [
  [{ ...emulated, ...testKeys, STRIPE_EMULATOR_URL: '' }, /Stripe is real and HubSpot is not/],
  [
    { ...emulated, HUBSPOT_EMULATOR_URL: '', HUBSPOT_ACCESS_TOKEN: 'pat' },
    /HubSpot is real and Stripe is not/,
  ],
  [
    { ...real, STRIPE_WEBHOOK_SECRET: '' },
    /STRIPE_SECRET_KEY and STRIPE_PUBLISHABLE_KEY set without STRIPE_WEBHOOK_SECRET/,
  ],
  [{ ...real, STRIPE_SECRET_KEY: 'sk_live_1' }, /both be live or both be test/],
  [{ ...real, STRIPE_SECRET_KEY: 'pk_test_1' }, /must begin with sk_test_/],
  [
    {
      ...live,
      MODE: 'local',
      HUBSPOT_ACCESS_TOKEN: '',
      HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:2',
      ALLOW_MIX: '1',
    },
    /never goes together with a live key/,
  ],
  [
    { ...emulated, MODE: 'live', LINK_SECRET: 'x'.repeat(32), PUBLIC_URL: 'https://a.example' },
    /refuses every emulator/,
  ],
  [{ ...live, ...testKeys }, /refuses test keys/],
  [{ ...live, LINK_SECRET: '' }, /LINK_SECRET is missing/],
  [{ ...live, LIMITS: 'off' }, /MODE=live refuses it/],
  [{ ...live, TRUST_PROXY: '' }, /TRUST_PROXY is missing/],
  [{ ...emulated, TRUST_PROXY: 'true' }, /whatever address a caller claims/],
  [{ ...emulated, TRUST_PROXY: '10.0.0.1, ::/0' }, /whatever address a caller/],
  [{ ...emulated, TRUST_PROXY: '10.0.0.1,nginx' }, /"nginx" is no address/],
  [{ ...emulated, TRUST_PROXY: '1' }, /"1" is no address/],
  [{ ...emulated, TRUST_PROXY: '::/00' }, /"::\/00" is no address/],
  [{ ...emulated, TRUST_PROXY: '10.0.0.0/33' }, /"10.0.0.0\/33" is no address/],
  [{ ...live, PUBLIC_URL: 'http://join.society.example' }, /https/],
  [{ ...emulated, DESK_URL: 'http://localhost:3100/desk' }, /DESK_URL must be an address without a path/],
  [
    { ...emulated, DESK_URL: 'http://192.168.1.5:3100' },
    /DESK_URL must begin with https:\/\/ or http:\/\/localhost/,
  ],
  [
    { ...live, DESK_URL: 'http://desk.society.example' },
    /DESK_URL must be an address that begins with https:/,
  ],
  [
    { ...live, PUBLIC_URL: 'https://join.society.example', DESK_URL: 'https://join.society.example:8443' },
    /DESK_URL must have another host than PUBLIC_URL/,
  ],
  [{ ...emulated, DATABASE_URL: '' }, /DATABASE_URL is missing/],
  [{ ...emulated, DATABASE_URL: 'mysql://a/x' }, /DATABASE_URL must be an address/],
  [{ ...emulated, DATABASE_URL: 'postgres://a,b:port/x' }, /DATABASE_URL must be an/],
  [
    { ...emulated, DATABASE_URL: 'postgres://a,b/x?target_session_attrs=standby' },
    /target_session_attrs=standby, and Induct writes/,
  ],
  [
    { ...emulated, DATABASE_URL: 'postgres://a/x?sslmode=verify-full&sslrootcert=system' },
    /sslrootcert=system.* name the file/,
  ],
  [{ ...emulated, PORT: '70000' }, /PORT must be a whole number/],
  [{ ...emulated, MODE: 'prod' }, /MODE must be one of local, live/],
  [{ ...emulated, LINK_SECRET: 'short' }, /at least 32/],
  [{ ...emulated, LIMIT_JOINS_PER_CODE: 'many' }, /LIMIT_JOINS_PER_CODE must be a count and a window/],
  [{ ...emulated, DATABASE_WAIT_SECONDS: '5m' }, /DATABASE_WAIT_SECONDS/],
  [{ ...emulated, STOP_DELAY_SECONDS: '61' }, /STOP_DELAY_SECONDS .* 0 to 60/],
  [{ ...emulated, UPLOAD_MAX_BYTES: '10MB' }, /UPLOAD_MAX_BYTES/],
  [{ ...emulated, CLAMD_URL: 'http://x:3310' }, /CLAMD_URL must be an address that begins with tcp:/],
  [
    { ...emulated, STORAGE_URL: 'ftp://host/documents' },
    /STORAGE_URL must be an address that begins with file:\/\/ or s3:\/\//,
  ],
  [
    { ...emulated, STORAGE_URL: 's3://documents', STORAGE_ACCESS_KEY_ID: 'x' },
    /STORAGE_ACCESS_KEY_ID is set without STORAGE_SECRET_ACCESS_KEY/,
  ],
  [
    { ...emulated, STORAGE_URL: 's3://documents', STORAGE_SECRET_ACCESS_KEY: 'x' },
    /STORAGE_SECRET_ACCESS_KEY is set without STORAGE_ACCESS_KEY_ID/,
  ],
  [
    { ...emulated, STORAGE_ACCESS_KEY_ID: 'x', STORAGE_SECRET_ACCESS_KEY: 'y' },
    /set STORAGE_URL to s3:\/\/bucket/,
  ],
  [{ ...emulated, STORAGE_URL: 's3://key:secret@documents' }, /Keys have settings of their own/],
  [{ ...emulated, STORAGE_URL: 's3://documents?regoin=eu-west-1' }, /unknown part: regoin/],
  [
    { ...emulated, STORAGE_URL: 's3://documents?checksums=none' },
    /STORAGE_URL's checksums can only be required/,
  ],
  [{ ...emulated, STORAGE_URL: 's3://documents?endpoint=minio:9000' }, /endpoint must be an address/],
  [{ ...live, SMTP_URL: '', MAIL_FROM: '' }, /^SMTP_URL is missing: MODE=live/],
  [{ ...real, MAIL_FROM: '' }, /^SMTP_URL is set without MAIL_FROM/],
  [{ ...emulated, MAIL_FROM: 'a@b.example' }, /^MAIL_FROM set without SMTP_URL/],
  [{ ...emulated, MAIL_EMULATOR_URL: '' }, /^None of SMTP_URL, MAIL_EMULATOR_URL and MAIL=els/],
  [{ ...live, MAIL: 'elsewhere' }, /^MAIL=elsewhere is set beside SMTP_URL/],
  [{ ...live, MAIL: 'off' }, /^MAIL can only be "elsewhere"/],
  [{ ...real, MAIL_EMULATOR_URL: 'smtp://127.0.0.1:3' }, /^MAIL_EMULATOR_URL is set beside SMTP_/],
  [{ ...real, SMTP_URL: 'https://mail.example' }, /^SMTP_URL must be an addr/],
  [{ ...real, SMTP_URL: 'smtps://post@mail.example' }, /both a user and a password/],
  [{ ...real, SMTP_URL: 'smtps://mail.example/?pool=1' }, /nothing behind the port/],
  [{ ...real, MAIL_FROM: 'The Society' }, /^MAIL_FROM must be an email/],
  [{ ...real, MAIL_FROM: 'A\r\nBcc: b <a@b.example>' }, /^MAIL_FROM must be an email/],
  [{ ...real, MAIL_DKIM_SELECTOR: 'a b' }, /^MAIL_DKIM_SELECTOR must be/],
  [{ ...real, MAIL_REPLY_TO: 'help@' }, /^MAIL_REPLY_TO must be an email/],
];
test('settings that cannot be meant are refused with a sentence', () => {
  for (const [env, sentence] of refused) assert.match(faultsOf(env), sentence);
});

test('live keys are not for a server without limits, nor for links without a signature, whatever the mode', () => {
  const local = { ...live, MODE: 'local' };
  assert.equal(faultsOf(local), '');
  assert.match(
    faultsOf({ ...local, LIMITS: 'off' }),
    /^LIMITS=off .* never goes together with a live key\.$/,
  );
  assert.match(
    faultsOf({ ...local, ALLOW_UNSIGNED_LINKS: '1' }),
    /^ALLOW_UNSIGNED_LINKS=1 .* only when MODE=live\.$/,
  );
  assert.equal(faultsOf({ ...real, LIMITS: 'off', ALLOW_UNSIGNED_LINKS: '1' }), '', 'test keys are');
});

test('the mail server, and in whose name letters go; or none, said aloud', () => {
  assert.deepEqual(readConfig({ ...real, MAIL_REPLY_TO: 'help@society.example' }).mail, {
    host: 'mail.society.example',
    port: 465,
    isSecure: true,
    requiresTls: false,
    credentials: { user: 'post', password: 'p@ss' },
    from: { name: 'Honor Society', address: 'join@society.example' },
    replyTo: { name: '', address: 'help@society.example' },
    isStandIn: false,
    dkimSelector: null,
    mailbox: null,
  });
  const submission = readConfig({ ...real, SMTP_URL: 'smtp://mail.example' }).mail;
  assert.deepEqual([submission?.port, submission?.requiresTls], [587, true]);
  assert.equal(
    readConfig({ ...emulated, ...mail, MAIL_EMULATOR_URL: '' }).mail?.host,
    'mail.society.example',
  );
  assert.deepEqual(
    [readConfig(emulated).mail?.port, readConfig(emulated).mail?.requiresTls],
    [3, false],
    'the stand-in is on this machine',
  );
  assert.equal(readConfig({ ...live, SMTP_URL: '', MAIL_FROM: '', MAIL: 'elsewhere' }).mail, null);
});

test('the database that npm start brings is asked for by a word that no other program takes', () => {
  assert.match(
    faultsOf({ ...emulated, DATABASE_URL: 'embedded' }),
    /^DATABASE_URL=embedded is for `npm start`/,
  );
});

test('all faults are listed at once', () => {
  assert.equal(faultsOf({ ...emulated, PORT: 'x', MODE: 'y', LOG_LEVEL: 'z' }).split('\n').length, 3);
});

test('a mix is permitted for development when asked for aloud', () => {
  assert.equal(
    faultsOf({ ...emulated, HUBSPOT_EMULATOR_URL: '', HUBSPOT_ACCESS_TOKEN: 'pat', ALLOW_MIX: '1' }),
    '',
  );
});

test('no key is ever part of a fault', () => {
  assert.doesNotMatch(faultsOf({ ...real, STRIPE_SECRET_KEY: 'secret_value_here' }), /secret_value_here/);
  const password = faultsOf({ ...real, SMTP_URL: 'smtps://post:secret%value_here@mail.example/path' });
  assert.match(password, /SMTP_URL/);
  assert.doesNotMatch(password, /value_here/);
});

test('documents are in a folder beside all other state, in another folder, or in a bucket', () => {
  const keys = { STORAGE_ACCESS_KEY_ID: 'id', STORAGE_SECRET_ACCESS_KEY: 'secret' };
  const storageOf = (env: Record<string, string>) => readConfig({ ...emulated, ...env }).storage;
  assert.deepEqual(storageOf({ DATA_DIR: '/data' }), { kind: 'folder', folder: '/data/documents' });
  assert.deepEqual(storageOf({ STORAGE_URL: 'file:///some%20where' }), {
    kind: 'folder',
    folder: '/some where',
  });
  const bucket = {
    kind: 's3',
    bucket: 'documents',
    region: null,
    endpoint: null,
    checksums: 'supported',
    credentials: null,
  };
  assert.deepEqual(storageOf({ STORAGE_URL: 's3://documents' }), { ...bucket, prefix: '' });
  assert.deepEqual(storageOf({ STORAGE_URL: 's3://documents/a/b/?region=eu-west-1', ...keys }), {
    ...bucket,
    prefix: 'a/b/',
    region: 'eu-west-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  const minio = 's3://documents?endpoint=http://minio:9000';
  const atMinio = { ...bucket, prefix: '', region: 'us-east-1', endpoint: 'http://minio:9000' };
  assert.deepEqual(storageOf({ STORAGE_URL: minio }), atMinio);
  assert.deepEqual(storageOf({ STORAGE_URL: `${minio}&checksums=required` }), {
    ...atMinio,
    checksums: 'required',
  });
});

test('whose word is taken for the address of a caller: the proxies that are named, or nobody', () => {
  const trusted = (proxies: string) => readConfig({ ...emulated, TRUST_PROXY: proxies }).trustProxy;
  assert.deepEqual(trusted('10.0.0.1, 2001:db8::/32,192.168.0.0/16'), [
    '10.0.0.1',
    '2001:db8::/32',
    '192.168.0.0/16',
  ]);
  for (const none of ['none', 'false', '']) assert.equal(trusted(none), false);
});

const settings = {
  DATABASE_URL: 'postgres://127.0.0.1/none',
  STRIPE_EMULATOR_URL: 'http://127.0.0.1:1',
  HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:1',
  MAIL_EMULATOR_URL: 'smtp://127.0.0.1:1',
};

test('nobody is told how a server does unless a setting says so, and load is shed unless limits are off', () => {
  const { metricsPort, otlpEndpoint, shedding } = readConfig(settings);
  assert.equal(metricsPort, null);
  assert.equal(otlpEndpoint, null);
  assert.equal(shedding.eventLoopDelayMs, 250);
  assert.ok(shedding.heapBytes > 100_000_000);
  const off = readConfig({ ...settings, LIMITS: 'off', METRICS_PORT: '9464' });
  assert.deepEqual(off.shedding, { eventLoopDelayMs: 0, heapBytes: 0, rssBytes: 0 });
  assert.equal(off.metricsPort, 9464);
  assert.equal(readConfig({ ...settings, SHED_RSS_MB: '300' }).shedding.rssBytes, 300 * 1_048_576);
});

test('mistakes in them are told like all others', () => {
  const wrong = {
    METRICS_PORT: '70000',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    SHED_HEAP_MB: 'much',
  };
  assert.throws(
    () => readConfig({ ...settings, ...wrong }),
    (error: ConfigFaults) =>
      error instanceof ConfigFaults &&
      Object.keys(wrong).every((name) => error.faults.some((fault) => fault.startsWith(name))),
  );
});
