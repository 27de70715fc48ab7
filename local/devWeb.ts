import { join, resolve } from 'node:path';
import { createRsbuild, loadConfig } from '@rsbuild/core';

/** The web app with hot reload, as a child of `npm run dev`; API_ORIGIN says where the server is. */
const root = resolve(import.meta.dirname, '../apps/web');
const { content } = await loadConfig({ cwd: root, path: join(root, 'rsbuild.config.ts') });
const rsbuild = await createRsbuild({ cwd: root, rsbuildConfig: content });
const { server, urls } = await rsbuild.startDevServer();

const stop = async () => {
  await server.close();
  process.exit(0);
};
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());
process.on('disconnect', () => void stop());
process.send?.({ url: urls[0] });
