import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { HUBSPOT_ACCESS_TOKEN } from '../keys.ts';
import { eventually, realSubjects, uniqueWord } from '../shared/subjects.ts';
import { startHubspotEmulator } from './server.ts';

const VERSION = '2026-09';
const CONTACTS = `/crm/objects/${VERSION}/contacts`;

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: any answer of the server; each test asserts its form.
  body: any;
}

/** The HubSpot account against which a behaviour test runs: an emulator that is started for the test, or a real test account. */
export interface Subject {
  accessToken: string;
  /** Makes a call with the account's token, or with `token`. VERSION in the path stands for the dated version of the API. */
  request(method: string, path: string, body?: object, token?: string): Promise<Answered>;
  contacts(method: string, path: string, body?: object): Promise<Answered>;
  /** Uploads a file of a few bytes under this name. Returns the answer's status. An accepted file is removed after the test. */
  upload(name: string): Promise<number>;
  /** Registers a function that cleans up a real account after the test. */
  afterwards(remove: () => Promise<unknown>): void;
  /** Creates a contact with a unique email, which is archived after the test. */
  contact(properties?: Record<string, string>): Promise<{ id: string; email: string }>;
  /** Polls until something is found, since a real account may not return its writes at once. */
  eventually<T>(look: () => Promise<T[]>): Promise<T[]>;
}

export async function subject(t: TestContext): Promise<Subject> {
  const real = realSubjects(process.env).hubspot;
  const { url, accessToken } = real ?? { url: await emulate(t), accessToken: HUBSPOT_ACCESS_TOKEN };
  const request: Subject['request'] = async (method, path, body, token = accessToken) => {
    const response = await fetch(url + path.replace('VERSION', VERSION), {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // In a real account, other users may have used up the rate limit, so this waits and tries again. The emulator's rate limit is
    // tested elsewhere.
    if (response.status === 429 && real) {
      await pause(1000 * Number(response.headers.get('retry-after') ?? '10'));
      return request(method, path, body, token);
    }
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const contacts: Subject['contacts'] = (method, path, body) => request(method, CONTACTS + path, body);
  return {
    accessToken,
    request,
    contacts,
    async upload(name) {
      const form = new FormData();
      form.append('folderPath', '/induct-drift');
      form.append('options', JSON.stringify({ access: 'PRIVATE' }));
      form.append('file', new Blob(['MZ']), name);
      const files = `${url}/files/${VERSION}/files`;
      const headers = { authorization: `Bearer ${accessToken}` };
      const response = await fetch(files, { method: 'POST', headers, body: form });
      const { id } = (await response.json()) as { id?: string };
      if (real && id) t.after(() => fetch(`${files}/${id}`, { method: 'DELETE', headers }));
      return response.status;
    },
    async contact(properties = {}) {
      const email = `${uniqueWord()}@example.com`;
      const { status, body } = await contacts('POST', '', { properties: { email, ...properties } });
      if (status !== 201) throw new Error(`No contact could be made: ${JSON.stringify(body)}`);
      if (real) t.after(() => contacts('DELETE', `/${body.id}`));
      return { id: body.id, email };
    },
    afterwards(remove) {
      if (real) t.after(remove);
    },
    eventually: (look) => eventually(real !== null, look),
  };
}

async function emulate(t: TestContext): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hubspot-emulator-'));
  const emulator = await startHubspotEmulator({ host: '127.0.0.1', port: 0, dataDir, searchLagMs: 0 });
  t.after(() => emulator.close());
  return emulator.url;
}
