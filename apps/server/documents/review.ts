import { sql } from 'kysely';
import { PROOF_DUE_DAYS, type RejectionReason } from '#core/document.ts';
import type { Deps } from '../deps.ts';

type Verdict = { review: 'accepted' } | { review: 'rejected'; reason: RejectionReason; isFinal: boolean };

/**
 * Says of all of a join's transcripts that were not decided what staff decided; a rejection takes back an acceptance, and
 * a final one an earlier rejection. Returns how many it was said of. HubSpot is told again.
 */
export async function reviewTranscripts(deps: Deps, uuid: string, verdict: Verdict): Promise<number> {
  const { reason, isFinal } = verdict.review === 'rejected' ? verdict : { reason: null, isFinal: false };
  return deps.database.transaction().execute(async (trx) => {
    const reviewed = await trx
      .updateTable('document')
      .set({ review: verdict.review, reason, is_final: isFinal, reviewed_at: deps.now() })
      .where('session_uuid', '=', uuid)
      .where('is_final', '=', false)
      .where((by) =>
        verdict.review === 'accepted'
          ? by('review', '=', 'open')
          : isFinal
            ? by.lit(true)
            : by('review', '<>', 'rejected'),
      )
      .returning('id')
      .execute();
    if (reviewed.length > 0)
      await trx
        .updateTable('join_session')
        .set({ profile_revision: sql`profile_revision + 1`, crm_next_try_at: sql`now()` })
        .where('uuid', '=', uuid)
        .execute();
    return reviewed.length;
  });
}

export interface DueProof {
  uuid: string;
  paidAt: Date;
}

/** Joins that owe a transcript, have none that was not rejected, and were paid for longer ago than proof may take. */
export async function dueProofs({ database, society, now }: Deps): Promise<DueProof[]> {
  const required = Object.entries(society.programmes)
    .filter(([, programme]) => programme.transcriptRequired)
    .map(([name]) => name);
  const { rows } = await sql<DueProof>`
    select uuid, paid_at as "paidAt" from join_session session
    where state = 'paid' and paid_at < ${now()}::timestamptz - make_interval(days => ${PROOF_DUE_DAYS})
      and (origin = 'self_nomination' or programme = any(${required}))
      and exists (select from membership where session_uuid = uuid and is_held)
      and not exists (select from document where session_uuid = uuid and review <> 'rejected')
    order by paid_at`.execute(database);
  return rows;
}
