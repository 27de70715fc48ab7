import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type BrowserContext, expect, type Page } from '@playwright/test';
import { linkAddress, makeLink } from '../../apps/server/desk/links.ts';
import { connect } from '../../apps/server/platform/database/client.ts';
import { openStorage } from '../../apps/server/providers/storage/openStorage.ts';
import { npmRun } from '../harness/npmStart.ts';
import { test as base, theInduct } from './fixtures.ts';
import { query } from './passes.ts';
import { heading } from './steps.ts';

/** Playwright's `test` for tests of the desk, which has its own server and base URL. */
export const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  baseURL: async ({}, use) => use(theInduct().desk!.url),
});

const emailOf = (name: string) => `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;

/** Makes a sign-in link with the operator's command, which takes as long as a short test. */
export async function linkOfOperator(name: string): Promise<string> {
  const settings = { DATA_DIR: join(theInduct().folder, 'data') };
  const command = npmRun('operator', settings, ['desk', 'link', name, emailOf(name), '--role', 'owner']);
  if ((await command.ended) !== 0) throw new Error(command.output());
  return command.output().trim();
}

/** Makes a sign-in link. A name that is not known yet becomes a new owner. */
export async function deskLink(name: string): Promise<string> {
  return linkAddress(theInduct().desk!.url, await makeToken(name));
}

async function makeToken(name: string): Promise<string> {
  const database = connect(theInduct().database.url);
  try {
    return await makeLink({ database, actor: null }, { name, email: emailOf(name), role: 'owner' });
  } finally {
    await database.destroy();
  }
}

/** Signs in the browser of a page, without opening the desk. Each test has its own member of staff. */
export async function signIn(page: Page, name: string): Promise<void> {
  const { url } = theInduct().desk!;
  const answer = await page.request.post(`${url}/api/desk/enter`, {
    data: { token: await makeToken(name) },
    headers: { origin: url, 'sec-fetch-site': 'same-origin' },
  });
  expect(answer.status()).toBe(200);
}

/** Signs in, and opens Today. Waits until the page is complete, since its heading appears before it listens to keys. */
export async function enterDesk(page: Page, name: string): Promise<void> {
  await signIn(page, name);
  await page.goto(theInduct().desk!.url, { waitUntil: 'networkidle' });
  await expect(heading(page, 'Today')).toBeVisible();
}

/** Gives a page's browser a virtual authenticator, which creates and uses passkeys without asking the user. */
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

/**
 * Returns the number of a join's person. If the join is paid, first waits until HubSpot is updated and the confirmation is sent,
 * because both change what the desk shows about an action.
 */
export async function personOf(uuid: string): Promise<string> {
  let person: string | undefined;
  await expect
    .poll(async () => {
      const [row] = await query<{ id: string; isAtRest: boolean }>(
        `select person.id, state <> 'paid' or contact_id is not null
           and exists (select from letter where session_uuid = uuid and kind = 'confirmation' and sent_at is not null) as "isAtRest"
         from join_session join person on person.id = person_id where uuid = $1`,
        [uuid],
      );
      person = row!.id;
      return row!.isAtRest;
    })
    .toBe(true);
  return String(person);
}

/** Returns the URL of the page on which the transcripts of a join are reviewed. */
export const judgingPage = async (uuid: string) => `/transcripts/${await personOf(uuid)}/1`;

/** Sets the time of a join's payment so far back that its proof is overdue. */
export async function payLongAgo(uuid: string): Promise<void> {
  await query(
    "update join_session set origin = 'self_nomination', paid_at = now() - interval '40 days' where uuid = $1",
    [uuid],
  );
}

export interface Planted {
  name: string;
  mediaType: string;
  bytes: Buffer;
}

/** Stores a document of a join as an upload would, even a document that an upload would refuse. Returns its id. */
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
  await query(
    `insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key, crm_next_try_at)
     values ($1, 'transcript', $2, $3, $4, $5, $6, $7, null)`,
    [id, uuid, name, mediaType, sizeBytes, sha256, key],
  );
  return id;
}
