import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';

/**
 * The floor of uploads: a form's file is streamed to disk and synced, and nothing else is done with it.
 * `multipart.ts FOLDER`; once it listens, its parent gets `{ listening: url }` as a message.
 */
const folder = process.argv[2]!;
mkdirSync(folder, { recursive: true });

const app = Fastify({ logger: false });
await app.register(multipart, { limits: { fileSize: Number.POSITIVE_INFINITY } });
app.post('/upload', async (request) => {
  const part = (await request.file())!;
  // `flush`: synced before it is closed.
  await pipeline(part.file, createWriteStream(join(folder, 'file'), { flush: true }));
  return { ok: true };
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ listening: url });
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const)
  process.once(event, () => void app.close().finally(() => process.exit(0)));
