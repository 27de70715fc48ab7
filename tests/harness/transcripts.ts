import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pathOf } from '#contract/calls.ts';
import type { RejectionReason } from '#documents/document.ts';
import { sendDue } from '../../apps/server/letters/sendLetters.ts';
import { runCommand } from './runCommand.ts';
import { paidJoin } from './steps.ts';
import type { Client, TestServer } from './testServer.ts';
import { postPdf } from './uploads.ts';

/** Returns helpers that do what applicants and staff do with transcripts. */
export function transcriptsOn(server: TestServer) {
  /** Uploads a transcript. Returns the status of the answer. */
  async function upload(client: Client, uuid: string, name = 'transcript.pdf'): Promise<number> {
    return (await postPdf(client, pathOf('uploadTranscript', { uuid }), { name })).status;
  }

  /** Makes a paid join with a transcript. */
  async function uploaded(): Promise<{ client: Client; uuid: string }> {
    const client = server.client();
    const { uuid } = await paidJoin(server, client);
    assert.equal(await upload(client, uuid), 200);
    return { client, uuid };
  }

  const accept = (t: TestContext, uuid: string) => runCommand(t, server, 'documents accept', [uuid]);
  const reject = (t: TestContext, uuid: string, reason: RejectionReason, ...more: string[]) =>
    runCommand(t, server, 'documents reject', [uuid, '--reason', reason, ...more]);

  /** Sends all letters that are due. Returns the texts of the letters about transcripts to this address, the oldest first. */
  async function lettersTo(email: string): Promise<string[]> {
    while (await sendDue(server.deps, server.deps.config.mail!));
    const letters = await server.letters();
    return letters
      .reverse()
      .filter(({ to, subject }) => to === email && /your transcript( was|$)/i.test(subject))
      .map(({ raw }) => raw.replaceAll(/=\r\n/g, '').replace(/\s+/g, ' '));
  }

  return { accept, lettersTo, reject, upload, uploaded };
}
