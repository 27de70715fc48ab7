import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { removeAtStripe } from '../../apps/server/people/privacy/atStripe.ts';
import { applyRetention } from '../../apps/server/people/privacy/retention.ts';
import type { Client, TestServer } from './testServer.ts';
import { postPdf } from './uploads.ts';

/** Returns a function that adds a section `retention` with these lines to the text of society.yaml. */
export const rule = (lines: string) => (source: string) => `${source}\nretention:\n${lines}`;
/** The retention that most tests use. */
export const all = rule('  abandonedDays: 10\n  rejectedDays: 40\n  paidDays: 400\n  documentsDays: 20\n');
/** What {@link applyRetention} returns when nothing was due. */
export const none = { abandoned: 0, rejected: 0, paid: 0, documents: 0, notices: 0 };

/** Returns helpers for tests of retention. */
export function retentionOn(server: TestServer) {
  const { deps } = server;
  async function age(uuid: string, days: number): Promise<void> {
    await sql`update join_session set updated_at = now() - make_interval(days => ${days}),
      paid_at = paid_at - make_interval(days => ${days}) where uuid = ${uuid}`.execute(deps.database);
  }
  async function uploaded(client: Client, uuid: string): Promise<void> {
    const path = `/api/public/join-session/${uuid}/upload-transcript`;
    assert.equal((await postPdf(client, path)).status, 200);
  }
  async function forgetAll(): ReturnType<typeof applyRetention> {
    const counts = await applyRetention(deps);
    await removeAtStripe(deps);
    return counts;
  }
  const rowOf = async (uuid: string) =>
    (
      await sql<{ erased_at: Date | null }>`select erased_at from join_session where uuid = ${uuid}`.execute(
        deps.database,
      )
    ).rows[0];
  return { age, uploaded, forgetAll, rowOf };
}
