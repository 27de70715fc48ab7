import type { FastifyInstance } from 'fastify';
import { personOfDocument, readDocument } from '../documents/documentsOf.ts';
import type { ListCursor } from '../documents/review.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { NO_CURSOR } from './peopleRoutes.ts';
import { serveDesk } from './serve.ts';
import { listTranscripts, NO_JOIN, readTranscript } from './transcripts.ts';

export const NO_DOCUMENT = 'There is no such document.';
const REMOVED = 'The file of this document was removed. What was decided on it stays.';

const ROWS = 50;

/** The calls of Transcripts. */
export function transcriptRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveDesk(app, deps, 'getTranscripts', async ({ query: { tab, next } }) => {
    const after = next === undefined ? null : cursorFrom(next);
    const { rows, next: last } = await listTranscripts(deps, tab, { after, most: ROWS });
    return { rows, next: last && `${last.micros}.${last.key}` };
  });

  serveDesk(app, deps, 'getTranscript', async ({ params }) => {
    const transcript = await readTranscript(deps, { id: Number(params.id), join: Number(params.join) });
    if (!transcript) throw new Refusal(404, NO_JOIN);
    return transcript;
  });

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

/** Reads where a list of transcripts goes on. Throws a {@link Refusal} (400) if no list says so. */
function cursorFrom(next: string): ListCursor {
  const [, micros, key] =
    /^(\d{1,17})\.([\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(next) ?? [];
  if (!micros || !key) throw new Refusal(400, NO_CURSOR);
  return { micros, key };
}
