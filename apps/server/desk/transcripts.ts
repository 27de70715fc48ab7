import type { DeskData } from '#contract/deskSchemas.ts';
import type { TranscriptTab } from '#contract/deskTranscripts.ts';
import { finalRejection, rejectionReasons } from '#documents/document.ts';
import { documentsOfJoin, type ListedDocument } from '../documents/documentsOf.ts';
import { remindedOf } from '../documents/remindOfProof.ts';
import {
  type Decision,
  decidedTranscripts,
  decisionsOn,
  dueProofs,
  isOver,
  type ListCursor,
  waitingTranscripts,
} from '../documents/review.ts';
import { nameJoins } from '../people/nameJoins.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { readStory } from '../session/readStory.ts';
import { eligibilityOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { joinOf, NO_JOIN } from './joinOf.ts';
import { presentPersonOf } from './presentPersonOf.ts';
import { programmeName } from './words.ts';

type Rows = DeskData<'getTranscripts'>['rows'];
type Transcript = DeskData<'getTranscript'>;

/** The fields that all lists have. `uuid` does not leave the server. */
interface Listed extends ListCursor {
  uuid: string;
  programme: string;
  name: string | null;
}

/**
 * Returns at most `most` rows of a tab, from the one after `after` on. `next` is the cursor of the next page; null on the last
 * page.
 */
export async function listTranscripts(
  deps: Deps,
  tab: TranscriptTab,
  { after, most }: { after: ListCursor | null; most: number },
): Promise<{ rows: Rows; next: ListCursor | null }> {
  const which = { after, most: most + 1 };
  const nothing = { files: 0, remindedAt: null, verdict: null, by: null };
  const rowsOf = async <Row extends Listed>(
    found: readonly Row[],
    more: (row: Row) => Pick<Rows[number], 'since'> & Partial<Rows[number]>,
  ) => {
    const page = found.slice(0, most);
    const joins = await nameJoins(
      deps,
      page.map(({ uuid }) => uuid),
    );
    const rows = page.flatMap((row) => {
      const join = joins.get(row.uuid);
      if (!join) return [];
      const { name, programme } = row;
      return [
        {
          id: join.personId,
          join: join.number,
          name: name ?? join.name,
          programme: programmeName(deps.society, programme),
          ...nothing,
          ...more(row),
        },
      ];
    });
    return { rows, next: found.length > most ? page.at(-1)! : null };
  };
  if (tab === 'decide')
    return rowsOf(await waitingTranscripts(deps, which), ({ since, count }) => ({
      since: since.toISOString(),
      files: count,
    }));
  if (tab === 'decided')
    return rowsOf(await decidedTranscripts(deps, which), ({ decidedAt, count, by, ...decision }) => ({
      since: decidedAt.toISOString(),
      files: count,
      verdict: verdictOf(decision),
      by,
    }));
  const due = await dueProofs(deps, which);
  const reminded = await remindedOf(
    deps.database,
    due.map(({ uuid }) => uuid),
  );
  return rowsOf(due, ({ uuid, paidAt }) => ({
    since: paidAt.toISOString(),
    remindedAt: reminded.get(uuid)?.toISOString() ?? null,
  }));
}

/**
 * Returns all data that staff need to decide on the transcripts of a join, which is given by its person's number and the join's
 * number. Throws 404 if there is none.
 */
export async function readTranscript(deps: Deps, named: { id: number; join: number }): Promise<Transcript> {
  const { database, society } = deps;
  const params = { id: String(named.id) };
  const [personId, uuid] = [await presentPersonOf(deps, params), await joinOf(deps, params, named.join)];
  const { join, applicant, documents } = await documentsOfJoin(deps, uuid);
  if (!applicant) throw new Refusal(404, NO_JOIN);
  const { name, email, school, graduationYear, gpa, programme } = applicant;
  const [over, decisions, story, next] = await Promise.all([
    isOver(database, join),
    decisionsOn(database, join),
    readStory(deps, join),
    nextWaiting(deps, [uuid, join]),
  ]);
  return {
    id: personId,
    join: named.join,
    name,
    email,
    programme: programmeName(society, programme),
    eligibility: eligibilityOf(society, programme),
    claimed: { name, school, graduationYear, gpa },
    documents: documents.map((document) => ({
      id: document.id,
      name: document.name,
      sizeBytes: Number(document.size_bytes),
      uploadedAt: document.created_at.toISOString(),
      shownAs: shownAs(document),
      review: document.review,
      isRemoved: document.removed_at !== null,
    })),
    standing: standingOf(documents, over),
    decisions: decisions.map((decision) => ({
      at: decision.at.toISOString(),
      by: decision.by,
      verdict:
        decision.review === 'open' ? 'taken back' : verdictOf({ ...decision, review: decision.review }),
      reason: reasonOf(decision, over),
    })),
    story: (story ?? []).map(({ at, text, by }) => ({ at: at.toISOString(), text, by })),
    next,
  };
}

export function shownAs({ media_type }: Pick<ListedDocument, 'media_type'>): 'pdf' | 'picture' | null {
  if (media_type === 'application/pdf') return 'pdf';
  return media_type.startsWith('image/') ? 'picture' : null;
}

function verdictOf<Review extends Decision['review']>({
  review,
  isFinal,
}: {
  review: Review;
  isFinal: boolean;
}) {
  return isFinal ? 'rejected finally' : review;
}

function reasonOf({ reason, isFinal }: Decision, isReturned: boolean): string | null {
  if (isFinal) return finalRejection({ isReturned });
  return reason && rejectionReasons[reason];
}

function standingOf(documents: readonly ListedDocument[], over: boolean): Transcript['standing'] {
  if (documents.some(({ is_final }) => is_final)) return 'rejected finally';
  if (over) return 'over';
  const seen = documents.filter(({ review, removed_at }) => review !== 'open' || removed_at === null);
  for (const review of ['open', 'accepted', 'rejected'] as const)
    if (seen.some((document) => document.review === review)) return review;
  return 'none';
}

/**
 * Returns the next waiting join after these joins in the list: the first one that comes after them or, if there is none, the
 * first of the list.
 */
async function nextWaiting(deps: Deps, uuids: readonly string[]): Promise<Transcript['next']> {
  const [own] = await waitingTranscripts(deps, { joins: uuids, most: 1 });
  const others = async (after: ListCursor | null) =>
    (await waitingTranscripts(deps, { after, most: 1 + uuids.length })).find(
      ({ uuid }) => !uuids.includes(uuid),
    );
  const next = (own && (await others(own))) ?? (await others(null));
  if (!next) return null;
  const join = (await nameJoins(deps, [next.uuid])).get(next.uuid);
  return join ? { id: join.personId, join: join.number } : null;
}
