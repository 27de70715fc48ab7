import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../local/findProgram.ts';
import { freePort } from '../../local/ports.ts';
import type { Scope } from '../scope.ts';
import { untilAnswered } from '../untilAnswered.ts';

export const findNginx = (): string | undefined => findProgram('nginx', '/usr/sbin/nginx');

/** nginx that writes each body into a file of `folder`, and answers when it is whole. */
export async function startNginx(
  scope: Scope,
  program: string,
  folder: string,
): Promise<{ url: string; pid: number }> {
  const bodies = join(folder, 'bodies');
  mkdirSync(bodies, { recursive: true });
  const [port, answering] = [(await freePort())!, (await freePort())!];
  const paths = ['proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off;
     master_process off;
     pid ${join(folder, 'nginx.pid')};
     error_log stderr;
     events {}
     http {
       access_log off;
       client_max_body_size 0;
       client_body_temp_path ${bodies};
       client_body_in_file_only on;
       ${paths.join('\n')}
       server {
         listen 127.0.0.1:${port};
         location / {
           proxy_pass http://127.0.0.1:${answering};
           proxy_pass_request_body off;
           proxy_set_header Content-Length "";
         }
       }
       server {
         listen 127.0.0.1:${answering};
         location / { return 200; }
       }
     }`,
  );
  const child = spawn(program, ['-c', file, '-e', 'stderr', '-p', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  child.once('error', (error) => (output += error.message));
  scope.onEnd(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const url = `http://127.0.0.1:${port}/`;
  await untilAnswered(url, () => {
    if (child.exitCode !== null) throw new Error(`nginx did not start: ${output}`);
  });
  return { url, pid: child.pid! };
}
