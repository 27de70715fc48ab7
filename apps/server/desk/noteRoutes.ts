import type { FastifyInstance } from 'fastify';
import { addNote, readNote, removeNote } from '../people/notes.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dateOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { NOBODY } from './presentPersonOf.ts';
import { serveDesk } from './serve.ts';
import { serveAction } from './serveAction.ts';

export const NO_NOTE = 'There is no such note.';

/** Serves the calls for notes about persons. */
export function noteRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveDesk(
    app,
    deps,
    'addNote',
    async ({ staff, params, body }) => {
      if (!(await addNote({ ...deps, actor: staff.name }, Number(params.id), body.text)))
        throw new Refusal(404, NOBODY);
      return {};
    },
    ({ params }) => params.id,
  );

  serveAction(
    app,
    deps,
    'removeNote',
    {
      async preview({ deps, params }) {
        const note = await readNote(deps, Number(params.id));
        if (!note) throw new Refusal(404, NO_NOTE);
        const { text, by, at, removedBy } = note;
        if (text === null) throw new Failed(`${removedBy} has removed this note already.`);
        const written = `That ${by} wrote it, on ${dateOf(deps.society, at)}, stays.`;
        return { lines: [text, written], verb: 'Remove', seen: null };
      },
      async act({ deps, params }) {
        if (!(await removeNote(deps, Number(params.id)))) throw new Failed(NO_NOTE);
        return { lines: [] };
      },
    },
    ({ params }) => `note ${params.id}`,
  );
}
