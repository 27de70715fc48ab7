import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { pdf as pdfOf } from './documents.ts';
import { paidJoin } from './steps.ts';
import type { Client, TestServer } from './testServer.ts';

/** A part of a form: text, or a file with its name. */
export type Part = [name: string, value: Blob | string, fileName?: string];

export const blob = (bytes: Buffer) => new Blob([new Uint8Array(bytes)]);
export const pdf = (size = 0) => blob(pdfOf({ size }));

/** Sends a PDF as the page's form does. Other fields come before the file. */
export function postPdf(
  client: Client,
  path: string,
  {
    name = 'transcript.pdf',
    bytes = pdfOf(),
    ...fields
  }: { name?: string; bytes?: Buffer; contactId?: string } = {},
): Promise<Response> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', blob(bytes), name);
  return client.fetch(path, { method: 'POST', body: form });
}

/** Returns helpers for uploads from the browser of a paid join, to a server whose documents are in a folder. */
export async function uploadsTo(server: TestServer) {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  const path = `/api/public/join-session/${uuid}/upload-transcript`;
  /** Returns the names of the stored files. */
  const stored = () => (existsSync(server.documents) ? readdirSync(server.documents).sort() : []);
  const rows = () => server.deps.database.selectFrom('document').selectAll().execute();
  return {
    client,
    path,
    stored,
    rows,
    async upload(parts: Part[], to = path) {
      const form = new FormData();
      for (const [name, value, fileName] of parts)
        typeof value === 'string' ? form.append(name, value) : form.append(name, value, fileName);
      const response = await client.fetch(to, { method: 'POST', body: form });
      const body = (await response.json()) as {
        success: boolean;
        message?: string;
        data?: { name?: string; size?: number; success?: boolean; message?: string };
      };
      return { ...body, status: response.status };
    },
    /** Runs `attempt` and asserts that it adds neither files nor rows. */
    async leavesNothing<T>(attempt: () => Promise<T>): Promise<T> {
      const [files, documents] = [stored(), (await rows()).length];
      const answer = await attempt();
      assert.deepEqual(stored(), files);
      assert.equal((await rows()).length, documents);
      return answer;
    },
  };
}
