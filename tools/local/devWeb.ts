import { join, resolve } from 'node:path';
import { createRsbuild, loadConfig, mergeRsbuildConfig } from '@rsbuild/core';

/**
 * Serves the web app with hot reload, as a child process of `npm run dev`. Listens on WEB_PORT and forwards API calls to
 * API_ORIGIN.
 */

const root = resolve(import.meta.dirname, '../../apps/web');
const { content } = await loadConfig({ cwd: root, path: join(root, 'rsbuild.config.ts') });
const rsbuild = await createRsbuild({
  cwd: root,
  rsbuildConfig: mergeRsbuildConfig(content, {
    server: { host: '127.0.0.1', port: Number(process.env.WEB_PORT) },
  }),
});
const { server, port } = await rsbuild.startDevServer();

const stop = async () => {
  await server.close();
  process.exit(0);
};
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());
process.on('disconnect', () => void stop());
process.send?.({ url: `http://127.0.0.1:${port}` });
