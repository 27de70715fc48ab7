import { existsSync, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { startChild } from './child.ts';
import { launch, type Running } from './launch.ts';
import { freePort } from './ports.ts';

const root = resolve(import.meta.dirname, '../..');
const webConfig = join(root, 'apps/web/rsbuild.config.ts');

/** `npm run dev`: like `npm start`, with hot reload. The server restarts when its sources change. */
process.exit(
  await launch({
    command: 'npm run dev',
    // Runs the unbuilt server, so that a change takes effect at once.
    server: join(root, 'apps/server/main.ts'),
    async serve(running) {
      restartOnChange(running);
      if (!existsSync(webConfig)) return { url: running.url, stop: async () => {} };
      // Uses the port after the server's. The page's URL has an IP address: `localhost` could resolve to another address, on which
      // the port is taken.
      const beside = Number(new URL(running.url).port) + 1;
      const port = (await freePort(beside)) ?? (await freePort())!;
      const { child, ready } = await startChild<{ url: string }>(resolve(import.meta.dirname, 'devWeb.ts'), {
        env: { ...process.env, NODE_ENV: 'development', API_ORIGIN: running.url, WEB_PORT: String(port) },
      });
      return { url: ready.url, stop: () => child.stop() };
    },
  }),
);

function restartOnChange({ restartServer, signal }: Running): void {
  let timer: NodeJS.Timeout | undefined;
  let restarting = Promise.resolve();
  const changed = () => {
    clearTimeout(timer);
    // Waits a moment, since editors write a file in several steps.
    timer = setTimeout(() => {
      restarting = restarting
        .then(restartServer)
        .then(() => console.log('The server started again.'))
        // The server has printed the reason itself; the next change tries again.
        .catch(() => {});
    }, 100);
  };
  for (const folder of ['apps/server', 'packages', 'society']) {
    if (!existsSync(join(root, folder))) continue;
    const watcher = watch(join(root, folder), { recursive: true, signal }, (_event, name) => {
      if (name && /\.(ts|sql|ya?ml|md)$/.test(name) && !name.endsWith('.test.ts')) changed();
    });
    watcher.on('error', () => {});
  }
}
