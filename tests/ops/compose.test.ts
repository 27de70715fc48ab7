import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, BlockList, isIPv4 } from 'node:net';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../apps/server/platform/config/config.ts';
import { stopMs } from '../../apps/server/platform/http/stopping.ts';
import { findProgram } from '../../tools/local/findProgram.ts';
import { temporaryFolder } from '../harness/temporaryFolder.ts';
import { exampleEnv, liveSettings, readCompose, readEnv } from './compose.ts';
import { imageOf, parseDockerfile } from './dockerfile.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const image = imageOf(parseDockerfile(read('Dockerfile')));
const compose = readCompose('compose.yaml', exampleEnv);
const trying = readCompose('compose.try.yaml', exampleEnv);
const unit = read('ops/induct@.service');
const { server1, server2, proxy, database, backup } = compose.services;
const servers = [server1!, server2!];
/** Settings that the server does not read, but compose, Node or other programs do. */
const notOurs = [
  'DOMAIN',
  'DESK_DOMAIN',
  'INDUCT_VERSION',
  'POSTGRES_PASSWORD',
  'NODE_EXTRA_CA_CERTS',
  'NODE_ENV',
  'NODE_COMPILE_CACHE',
  'PATH',
];

test('the example of an env file, filled in, is all that compose.yaml needs for MODE=live', () => {
  const config = readConfig(liveSettings('server1'));
  assert.equal(config.mode, 'live');
  assert.equal(config.publicUrl, 'https://join.society.example');
  assert.throws(() => readCompose('compose.yaml', readEnv('ops/env.example')), /POSTGRES_PASSWORD: set it/);
});

test('the image of backups has the settings of the servers, and the journal of erasures of the one in which staff work', () => {
  const [, own] = /^ENV (.*)$/m.exec(read('ops/backup.Dockerfile'))!;
  const settings = Object.fromEntries(own!.split(' ').map((pair) => pair.split('=')));
  const config = readConfig({ ...exampleEnv, ...settings, ...backup!.environment });
  const ofServer = readConfig(liveSettings('server1'));
  const alike = ['mode', 'databaseUrl', 'publicUrl', 'storage', 'dataDir', 'societyFile'] as const;
  for (const name of alike) assert.deepEqual(config[name], ofServer[name], name);
  for (const volume of server1!.volumes!) assert.ok(backup!.volumes!.includes(volume), volume);
  const inServer = /docker compose (?:exec|run) .*?(server\d) node apps\/staff\/operator\.ts/g;
  const documents = ['deploy', 'run', 'staff'].map((name) => read(`docs/${name}.md`)).join('\n');
  const named = new Set([...documents.matchAll(inServer)].map(([, server]) => server));
  assert.deepEqual([...named], ['server1']);
  assert.equal(backup!.build!.args.INDUCT, server1!.image);

  // The documents also show how to run server and backup by `docker run`. There, too, the backup must have every volume and
  // env file of the server.
  const [serving] = /^docker run -d [^`]*?induct:/m.exec(read('docs/deploy.md'))!;
  const [saving] = /^docker run --rm [^`]*?induct-backup:/m.exec(read('docs/run.md'))!;
  for (const [, option] of serving.matchAll(/ (-v \S+|--env-file \S+)/g))
    assert.ok(saving.includes(option!), option!);
});

test('the nightly backup with compose is named by its minute, and one that failed removes nothing', (t) => {
  const [, line] = /^30 9 \* \* \* root (.*)$/m.exec(read('docs/run.md'))!;
  const folder = temporaryFolder(t);
  const backups = join(folder, 'backups');
  const docker = join(folder, 'docker');
  const old = new Date(Date.now() - 16 * 86_400_000);
  for (const name of ['2026-01-01-0930', 'before the upgrade']) {
    mkdirSync(join(backups, name), { recursive: true });
    utimesSync(join(backups, name), old, old);
  }
  // Cron ends a command at a percent sign, unless a backslash precedes the sign.
  const command = line!
    .replaceAll('\\%', '%')
    .replaceAll('/srv/induct', root)
    .replaceAll('/backups', backups);
  const run = (script: string) => {
    writeFileSync(docker, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return spawnSync('/bin/sh', ['-c', command], {
      encoding: 'utf8',
      env: { PATH: `${folder}:${process.env.PATH}` },
    });
  };
  assert.notEqual(run('exit 1').status, 0);
  assert.deepEqual(readdirSync(backups).sort(), ['2026-01-01-0930', 'before the upgrade']);
  const made = run('[ "$*" = "compose run --rm -T backup backup $7" ] && mkdir "$7"');
  assert.equal(made.status, 0, made.stderr);
  const [today, kept, ...more] = readdirSync(backups).sort();
  assert.match(today!, /^20\d\d-\d\d-\d\d-\d{4}$/);
  assert.deepEqual([kept, more], ['before the upgrade', []]);
});

const openssl = findProgram('openssl');
test('the certificate for Mailpit is one that a server trusts for its name', {
  skip: !openssl && 'openssl is not installed',
}, (t) => {
  const [command] = /^mkdir -p mailpit && openssl .*$/m.exec(read('docs/deploy.md'))!;
  const folder = temporaryFolder(t);
  const made = spawnSync('/bin/sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const certificate = new X509Certificate(readFileSync(join(folder, 'mailpit/cert.pem')));
  const { SMTP_URL, NODE_EXTRA_CA_CERTS } = trying.services.server1!.environment!;
  assert.equal(certificate.checkHost(new URL(SMTP_URL!).hostname), 'mailpit');
  assert.ok(certificate.ca && certificate.verify(certificate.publicKey), 'it is its own authority');
  const { environment, volumes } = trying.services.mailpit!;
  assert.equal(environment!.MP_SMTP_TLS_CERT, NODE_EXTRA_CA_CERTS);
  const key = createPrivateKey(readFileSync(join(folder, 'mailpit/key.pem')));
  assert.ok(certificate.checkPrivateKey(key));
  assert.deepEqual(volumes, ['./mailpit:/mailpit:ro']);
});

test('no log grows for ever', () => {
  for (const [name, { logging }] of Object.entries(compose.services)) {
    const { driver, options } = (logging ?? {}) as { driver?: string; options?: Record<string, string> };
    assert.equal(driver, 'json-file', name);
    assert.match(options!['max-size']!, /^\d+m$/, name);
    assert.match(options!['max-file']!, /^\d+$/, name);
  }
  const [command] = /^docker run -d [^`]*?induct:/m.exec(read('docs/deploy.md'))!;
  assert.match(command, /--log-opt max-size=\d+m --log-opt max-file=\d+/);
});

test('each server of a machine has a port of its own for its metrics, which only this machine reaches', () => {
  const ports = servers.map(({ environment, ports }) => {
    const [, port] =
      new RegExp(`^127\\.0\\.0\\.1:(\\d+):${environment!.METRICS_PORT}$`).exec(ports!.join()) ?? [];
    return port;
  });
  const units = [
    ...read('docs/deploy.md').matchAll(/^echo METRICS_PORT=(\d+) > \/etc\/induct-(\d+)\.env$/gm),
  ];
  assert.deepEqual(
    units.map(([, , instance]) => instance),
    ['3000', '3001'],
  );
  assert.deepEqual(
    units.map(([, port]) => port),
    ports,
  );
  assert.match(
    unit,
    /^EnvironmentFile=\/etc\/induct\.env\n(?:#.*\n)?EnvironmentFile=-\/etc\/induct-%i\.env$/m,
  );
  for (const port of ports) assert.ok(read('docs/run.md').includes(`'127.0.0.1:${port}'`), port!);
});

test('what is built by the docs and the example of an env file has the name of this version', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.equal(exampleEnv.INDUCT_VERSION, version);
  const tags = [
    ...(read('docs/deploy.md') + read('docs/run.md')).matchAll(
      /\b(?:induct|induct-backup):(\d+\.\d+\.\d+)|VERSION=(\d\S+)/g,
    ),
  ];
  assert.ok(tags.length > 2);
  for (const [text, tag, argument] of tags) assert.equal(tag ?? argument, version, text);
});

test('a $ is written in the env file as the example says, whoever reads the file', () => {
  // The programs that read an env file treat `$` differently. Compose expands `$` as a variable unless the value is in single
  // quotes. Docker's --env-file takes quotes as part of the value. So `$` is written as %24, which neither of these programs
  // changes.
  assert.match(read('ops/env.example'), /\$ in a password is %24/);
  const settings = { ...liveSettings('server1'), SMTP_URL: 'smtps://induct:a%24b@localhost:1' };
  assert.equal(readConfig(settings).mail!.credentials!.password, 'a$b');
});

test('every name that image, compose, unit and example set is a setting that the server reads', () => {
  const known = globSync('apps/server/platform/config/*.ts', { cwd: root }).map(read).join('\n');
  const units = unit + read('ops/induct-backup.service');
  const ofUnit = [...units.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) =>
    [...line!.matchAll(/(\w+)=/g)].map(([, name]) => name!),
  );
  const names = [
    ...Object.keys(image.env),
    ...ofUnit,
    ...Object.keys(readEnv('ops/env.example', true)),
    ...servers.flatMap(({ environment }) => Object.keys(environment!)),
    ...Object.keys(trying.services.server1!.environment!),
  ];
  assert.ok(names.includes('STORAGE_URL') && names.includes('CLAMD_URL') && ofUnit.includes('MODE'));
  assert.deepEqual(
    names.filter((name) => !known.includes(`'${name}'`) && !notOurs.includes(name)),
    [],
  );
});

test('the proxy asks the port on which the image listens, from the address that the servers believe', () => {
  assert.equal(image.env.PORT, String(image.port));
  assert.equal(proxy!.environment!.SERVERS, `server1:${image.port} server2:${image.port}`);
  const address = proxy!.networks!.default.ipv4_address;
  const subnet = new BlockList();
  const [network, bits] = compose.networks!.default.ipam.config[0]!.subnet.split('/');
  subnet.addSubnet(network!, Number(bits));
  assert.ok(subnet.check(address));
  for (const { environment } of servers) assert.equal(environment!.TRUST_PROXY, address);
});

test('no other container can be given the address of the proxy, whichever starts first', () => {
  const { subnet, ip_range, gateway } = compose.networks!.default.ipam.config[0]!;
  const listOf = (range: string) => {
    const list = new BlockList();
    const [network, bits] = range.split('/');
    list.addSubnet(network!, Number(bits));
    return list;
  };
  const address = proxy!.networks!.default.ipv4_address;
  // Docker gives a container without a fixed address the first free address of `ip_range`, even if `docker compose run` starts
  // the container.
  const given = listOf(ip_range!);
  assert.ok(!given.check(address), `${address} is within ${ip_range}`);
  assert.ok(listOf(subnet).check(ip_range!.split('/')[0]!));
  // If no gateway is named, Docker chooses one itself.
  assert.ok(listOf(subnet).check(gateway!) && !given.check(gateway!));
  assert.notEqual(gateway, address);
});

test('no port is published for IPv6, whose callers would all have the address of Docker', () => {
  const published = Object.entries(compose.services).flatMap(([name, { ports }]) =>
    (ports ?? []).map((port) => [name, port] as const),
  );
  assert.ok(published.some(([name, port]) => name === 'proxy' && port.endsWith(':443:443/udp')));
  for (const [name, port] of published) assert.ok(isIPv4(port.split(':')[0]!), `${name} publishes ${port}`);
});

test('compose calls a server healthy when it is ready, and no other container waits for that', async (t) => {
  let status = 503;
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 200).end('{"missing":["storage"]}');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const { healthcheck } of servers) {
    const [kind, program, ...args] = healthcheck!.test!;
    assert.deepEqual([kind, program], ['CMD', 'node']);
    const check = () =>
      new Promise<[number, string]>((done) => {
        execFile(process.execPath, args, { env: { PORT: String(port) } }, (error, stdout) =>
          done([Number(error?.code ?? 0), stdout]),
        );
      });
    // `docker inspect` shows the output of the last checks.
    status = 503;
    assert.deepEqual(await check(), [1, '{"missing":["storage"]}\n']);
    status = 200;
    assert.deepEqual((await check())[0], 0);
    // A server that waits for its database, or migrates it, is not yet unhealthy.
    const { databaseWaitSeconds } = readConfig(liveSettings('server1'));
    assert.ok(Number.parseInt(healthcheck!.start_period!, 10) > databaseWaitSeconds);
  }
  // While a bucket is down, no server counts as healthy, although joins go on. A service that waits for a healthy server could
  // not start then. Therefore no service may depend on a server.
  for (const [name, { depends_on }] of Object.entries(compose.services))
    assert.ok(!/server\d/.test(Object.keys(depends_on ?? {}).join()), name);
});

test('each server has a DATA_DIR of its own, and all have one storage; no volume is forgotten', () => {
  const places = servers.map(({ volumes }) =>
    Object.fromEntries(volumes!.map((each) => each.split(':').slice(0, 2).reverse())),
  );
  assert.deepEqual(
    places.map((place) => place[image.env.DATA_DIR!]),
    ['server1', 'server2'],
  );
  for (const [index, { environment }] of servers.entries())
    assert.equal(places[index]![new URL(environment!.STORAGE_URL!).pathname], 'documents');
  const named = Object.values(compose.services)
    .flatMap(({ volumes }) => volumes!.map((each) => each.split(':')[0]!))
    .filter((name) => !/^[./]/.test(name));
  assert.deepEqual([...new Set(named)].sort(), Object.keys(compose.volumes!).sort());
});

test('whatever stops a server waits as long as it may take, and its database has room for all connections twice', () => {
  const neededMs = stopMs(readConfig(liveSettings('server1')));
  for (const { stop_grace_period } of servers)
    assert.ok(Number.parseInt(stop_grace_period!, 10) * 1_000 >= neededMs);
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]) * 1_000 >= neededMs);
  const most = Number(/max_connections=(\d+)/.exec(String(database!.command))![1]);
  assert.ok(most >= 2 * servers.length * 30);
});

test('both proxies let the same calls be large: those that take documents', () => {
  const example = /location ~ (\S+) \{/.exec(read('docs/deploy.md'))![1]!;
  assert.deepEqual(
    [...read('ops/Caddyfile').matchAll(/path_regexp (\S+)$/gm)].map(([, pattern]) => pattern),
    [example, example],
  );
});

const dockerCompose = findProgram('docker-compose');
test('docker-compose takes compose.yaml, alone and with compose.try.yaml', {
  skip: !dockerCompose && 'docker-compose is not installed (apt-get install docker-compose)',
}, (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, '.env'),
    Object.entries(exampleEnv)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  mkdirSync(join(folder, 'ops'));
  // Debian's docker-compose is too old to know `name`.
  writeFileSync(join(folder, 'compose.yaml'), read('compose.yaml').replace(/^name: .*$/m, ''));
  copyFileSync(join(root, 'compose.try.yaml'), join(folder, 'compose.try.yaml'));
  for (const files of [
    ['-f', 'compose.yaml', '--profile', 'scanner', '--profile', 'backup'],
    ['-f', 'compose.yaml', '-f', 'compose.try.yaml'],
  ]) {
    const { status, stdout, stderr } = spawnSync(dockerCompose!, [...files, 'config', '--services'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    assert.ok(stdout.split('\n').includes('server2'));
  }
});

const caddy = findProgram('caddy');
test('Caddy takes the Caddyfile', {
  skip: !caddy && 'caddy is not installed (apt-get install caddy)',
}, () => {
  const { status, stderr } = spawnSync(
    caddy!,
    ['validate', '--config', join(root, 'ops/Caddyfile'), '--adapter', 'caddyfile'],
    {
      encoding: 'utf8',
      env: { ...process.env, ...exampleEnv, ...proxy!.environment },
    },
  );
  assert.equal(status, 0, stderr);
});

const systemd = findProgram('systemd-analyze');
test('systemd takes the units, and calls the services little exposed', {
  skip: !systemd && 'systemd-analyze is not installed (apt-get install systemd)',
}, (t) => {
  const folder = temporaryFolder(t);
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const services = [
    // /bin/true exists everywhere; /usr/bin/node may not.
    write('induct@3000.service', unit.replace('/usr/bin/node', '/bin/true')),
    write('induct-backup.service', read('ops/induct-backup.service')),
  ];
  const timer = write('induct-backup.timer', read('ops/induct-backup.timer'));
  const verified = spawnSync(systemd!, ['verify', ...services, timer], { encoding: 'utf8' });
  assert.deepEqual([verified.status, verified.stderr], [0, '']);
  for (const service of services) {
    const security = execFileSync(
      systemd!,
      ['security', '--offline=true', '--no-pager', '--threshold=20', service],
      { encoding: 'utf8' },
    );
    assert.match(security, /OK/);
  }
});
