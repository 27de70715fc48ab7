import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import { listen } from './listen.ts';

/**
 * `multipart.ts FOLDER`: the minimal server for uploads, with which Induct is compared. It only streams a form's file into the
 * folder and syncs it.
 */

const folder = process.argv[2]!;
mkdirSync(folder, { recursive: true });

const app = Fastify({ logger: false });
await app.register(multipart, { limits: { fileSize: Number.POSITIVE_INFINITY } });
app.post('/upload', async (request) => {
  const part = (await request.file())!;
  // `flush`: the file is synced before it is closed.
  await pipeline(part.file, createWriteStream(join(folder, 'file'), { flush: true }));
  return { ok: true };
});
await listen(app);
