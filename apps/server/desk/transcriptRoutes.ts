import type { FastifyInstance } from 'fastify';
import { REMIND_AGAIN_DAYS } from '#core/staff.ts';
import { personOfDocument, readDocument } from '../documents/documentsOf.ts';
import { type Reminded, remindOfProof } from '../documents/remindOfProof.ts';
import type { ListCursor } from '../documents/review.ts';
import { joinNumbered } from '../people/nameJoins.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dayOf } from '../society/texts.ts';
import { csvPages, FILE_ROWS } from './csvPages.ts';
import type { Deps } from './deps.ts';
import { NO_CURSOR } from './peopleRoutes.ts';
import { serveDesk } from './serve.ts';
import { serveAction } from './serveAction.ts';
import { listTranscripts, readTranscript } from './transcripts.ts';

export const NO_DOCUMENT = 'There is no such document.';
const REMOVED = 'The file of this document was removed. What was decided on it stays.';

const NOBODY_TO_REMIND = `All of them were reminded in the last ${REMIND_AGAIN_DAYS} days, or owe nothing any more.`;

const ROWS = 50;

/** Returns a count of people, with a verb: "1 person gets", "12 people get". */
function people(count: number, one = '', many = one): string {
  return `${count} ${count === 1 ? 'person' : 'people'} ${count === 1 ? one : many}`.trim();
}

/**
 * Returns the uuids of joins that are given by their person's number and the join's number. Joins that do not exist any more are
 * left out.
 */
async function uuidsOf(deps: Deps, named: readonly { id: number; join: number }[]): Promise<string[]> {
  const found = await Promise.all(named.map((each) => joinNumbered(deps, each.id, each.join)));
  return [...new Set(found.flatMap((uuid) => uuid ?? []))];
}

/** Serves the calls of the screen Transcripts. */
export function transcriptRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveDesk(app, deps, 'getTranscripts', async ({ query: { tab, next } }) => {
    const after = next === undefined ? null : cursorFrom(next);
    const { rows, next: last } = await listTranscripts(deps, tab, { after, most: ROWS });
    return { rows, next: last && `${last.micros}.${last.key}` };
  });

  serveDesk(app, deps, 'getTranscriptsFile', ({ query: { tab } }) => {
    const columns = ['person', 'join', 'name', 'programme', 'since', 'files', 'reminded', 'decision', 'by'];
    const dayIn = (time: string | null) => (time === null ? '' : dayOf(deps.society, new Date(time)));
    const pieces = csvPages(columns, async (after: ListCursor | null) => {
      const { rows, next } = await listTranscripts(deps, tab, { after, most: FILE_ROWS });
      return {
        cells: rows.map(({ id, join, name, programme, since, files, remindedAt, verdict, by }) => [
          String(id),
          String(join),
          name ?? '',
          programme,
          dayIn(since),
          String(files),
          dayIn(remindedAt),
          verdict ?? '',
          by ?? '',
        ]),
        next,
      };
    });
    return { name: `transcripts-${tab}-${dayOf(deps.society, deps.now())}.csv`, pieces };
  });

  serveDesk(app, deps, 'getTranscript', ({ params }) =>
    readTranscript(deps, { id: Number(params.id), join: Number(params.join) }),
  );

  serveAction<'remindOfProof', Reminded>(
    app,
    deps,
    'remindOfProof',
    {
      async preview({ deps, body }) {
        const seen = await remindOfProof(deps, await uuidsOf(deps, body.people), { isTrial: true });
        const { reminded, lately, notDue } = seen;
        if (reminded.length === 0) throw new Failed(NOBODY_TO_REMIND);
        const lines = [
          `${people(reminded.length, 'gets', 'get')} a letter that asks for the transcript.`,
          ...(lately.length > 0
            ? [
                `${people(lately.length, 'was', 'were')} reminded in the last ${REMIND_AGAIN_DAYS} days, and ${lately.length === 1 ? 'gets' : 'get'} none.`,
              ]
            : []),
          ...(notDue.length > 0
            ? [
                `${people(notDue.length, 'owes', 'owe')} nothing any more, and ${notDue.length === 1 ? 'gets' : 'get'} none.`,
              ]
            : []),
        ];
        return { lines, verb: `Remind ${people(reminded.length)}`, seen };
      },
      async act({ deps, body }, seen) {
        await remindOfProof(deps, await uuidsOf(deps, body.people), { seen });
        return { lines: [] };
      },
    },
    ({ body }) => people(body.people.length),
  );

  serveDesk(
    app,
    deps,
    'openDocument',
    async ({ params }) => {
      const document = await readDocument(deps, params.id);
      if (!document) throw new Refusal(404, NO_DOCUMENT);
      if (document.is === 'removed') throw new Refusal(404, REMOVED);
      if (document.is === 'unreadable') throw new Refusal(409, document.why);
      return document;
    },
    async ({ params }) => String((await personOfDocument(deps, params.id)) ?? `document ${params.id}`),
  );
}

/** Parses the cursor after which a list's next page starts. Throws a {@link Refusal} (400) if it is malformed. */
function cursorFrom(next: string): ListCursor {
  const [, micros, key] =
    /^(\d{1,17})\.([\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(next) ?? [];
  if (!micros || !key) throw new Refusal(400, NO_CURSOR);
  return { micros, key };
}
