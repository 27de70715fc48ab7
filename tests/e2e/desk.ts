import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type BrowserContext, expect, type Page } from '@playwright/test';
import pg from 'pg';
import { openStorage } from '../../apps/server/providers/storage/openStorage.ts';
import { npmRun } from '../harness/npmStart.ts';
import { test as base, theInduct } from './fixtures.ts';
import { button, heading } from './steps.ts';

/** Tests at the desk, whose addresses are of its own server. */
export const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  baseURL: async ({}, use) => use(theInduct().desk!.url),
});

/** Makes a link that signs in, by the operator's command. A name that is new becomes an owner. */
export async function deskLink(name: string): Promise<string> {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
  const settings = { DATA_DIR: join(theInduct().folder, 'data') };
  const command = npmRun('operator', settings, ['desk', 'link', name, email, '--role', 'owner']);
  if ((await command.ended) !== 0) throw new Error(command.output());
  return command.output().trim();
}

/** Signs in by a new link. Each test has its own person of staff. */
export async function enterDesk(page: Page, name: string): Promise<void> {
  await page.goto(await deskLink(name));
  await button(page, 'Sign in').click();
  await expect(heading(page, 'Today')).toBeVisible();
}

/** Gives a page's browser a device that makes and uses passkeys without asking anybody. */
export async function bringAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Runs a statement in the database of the running Induct. */
async function inDatabase(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  const database = new pg.Client({ connectionString: theInduct().database.url });
  await database.connect();
  try {
    return (await database.query(text, values)).rows;
  } finally {
    await database.end();
  }
}

/** Returns the address of the page on which the transcripts of a join are judged. */
export async function judgingPage(uuid: string): Promise<string> {
  const [row] = await inDatabase('select person_id from join_session where uuid = $1', [uuid]);
  return `/transcripts/${String(row!.person_id)}/1`;
}

/** Lets a join be paid so long ago that its proof is overdue. */
export async function payLongAgo(uuid: string): Promise<void> {
  await inDatabase(
    "update join_session set origin = 'self_nomination', paid_at = now() - interval '40 days' where uuid = $1",
    [uuid],
  );
}

export interface Planted {
  name: string;
  mediaType: string;
  bytes: Buffer;
}

/** Stores a document of a join as it would be after an upload, also one that no upload would take. Returns its id. */
export async function plantDocument(uuid: string, { name, mediaType, bytes }: Planted): Promise<string> {
  const dataDir = join(theInduct().folder, 'data');
  const storage = await openStorage({
    dataDir,
    storage: { kind: 'folder', folder: join(dataDir, 'documents') },
    storageReserveBytes: 0,
    documentKeys: [readFileSync(join(dataDir, 'document.key'), 'utf8').trim()],
  });
  const { key, sizeBytes, sha256 } = await storage.put(Readable.from([bytes]), async () => {});
  const id = randomUUID();
  await inDatabase(
    `insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key, crm_next_try_at)
     values ($1, 'transcript', $2, $3, $4, $5, $6, $7, null)`,
    [id, uuid, name, mediaType, sizeBytes, sha256, key],
  );
  return id;
}
