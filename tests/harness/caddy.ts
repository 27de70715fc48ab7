import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { findProgram } from '../../tools/local/findProgram.ts';
import { freePort } from '../../tools/local/ports.ts';
import { until } from './until.ts';

export const caddyProgram = findProgram('caddy');
const file = resolve(import.meta.dirname, '../../ops/Caddyfile');

export interface Caddy {
  url: string;
  /** Returns Caddy's log so far: lines of JSON. */
  log(): string;
  close(): Promise<void>;
}

/**
 * Starts the proxy of compose.yaml, with TLS, in front of these local ports. From then on, this process trusts the proxy's
 * certificate. `change` edits the text of the Caddyfile. `desks` are the ports of the desk, whose host name is desk.localhost.
 */
export async function startCaddy(
  ports: readonly number[],
  change = (config: string) => config,
  desks: readonly number[] = [1],
): Promise<Caddy> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-caddy-'));
  const [http, https] = [await freePort(), await freePort()];
  const config = join(folder, 'Caddyfile');
  // Sets free ports, and leaves this machine's trust store unchanged.
  const own = `admin off\nskip_install_trust\nhttp_port ${http}\nhttps_port ${https}\n`;
  writeFileSync(config, change(readFileSync(file, 'utf8')).replace(/^\{\n/m, `{\n${own}`));
  const caddy = spawn(caddyProgram!, ['run', '--config', config, '--adapter', 'caddyfile'], {
    env: {
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      DOMAIN: 'localhost',
      SERVERS: ports.map((port) => `127.0.0.1:${port}`).join(' '),
      DESK_DOMAIN: 'desk.localhost',
      DESKS: desks.map((port) => `127.0.0.1:${port}`).join(' '),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  caddy.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = once(caddy, 'exit');
  const authority = join(folder, 'caddy/pki/authorities/local/root.crt');
  // The file may exist before Caddy has finished writing it.
  const certificate = () => (existsSync(authority) ? readFileSync(authority, 'utf8').trimEnd() : '');
  await until(() => certificate().endsWith('-----END CERTIFICATE-----'));
  setDefaultCACertificates([...getCACertificates(), certificate()]);
  const url = `https://localhost:${https}`;
  // Any answer means that Caddy runs, even if no server behind it is ready.
  await until(async () => (await fetch(url).catch(() => null)) !== null);
  return {
    url,
    log: () => log,
    async close() {
      caddy.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
