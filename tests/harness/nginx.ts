import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../tools/local/findProgram.ts';
import { freePort } from '../../tools/local/ports.ts';
import { until } from './until.ts';

export const nginxProgram = findProgram('nginx', '/usr/sbin/nginx');

const deploy = join(import.meta.dirname, '../../docs/deploy.md');

/**
 * Starts nginx with the configuration in docs/deploy.md, but without TLS. It is a proxy in front of two servers on these ports.
 */
export async function startNginx(servers: readonly [number, number]) {
  const folder = mkdtempSync(join(tmpdir(), 'induct-nginx-'));
  const port = (await freePort())!;
  const example = /```nginx\n([\s\S]*?)```/.exec(readFileSync(deploy, 'utf8'))![1]!;
  const site = example
    .replace('127.0.0.1:3000', `127.0.0.1:${servers[0]}`)
    .replace('127.0.0.1:3001', `127.0.0.1:${servers[1]}`)
    .replaceAll('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/ssl_certificate\w* .*\n/g, '\n');
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
    daemon off; pid nginx.pid; error_log error.log;
    events {}
    http {
      access_log access.log;
      client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
      ${site}
    }`,
  );
  const nginx = spawn(nginxProgram!, ['-p', folder, '-c', file, '-e', 'error.log'], { stdio: 'ignore' });
  const ended = once(nginx, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true);
  return {
    url,
    /** Returns nginx's error log so far. */
    log: () => readFileSync(join(folder, 'error.log'), 'utf8'),
    /** Returns nginx's access log so far. It is empty if the configuration turns the log off, as the documented example does. */
    accessLog: () => readFileSync(join(folder, 'access.log'), 'utf8'),
    async close() {
      nginx.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
