import type { FastifyInstance } from 'fastify';
import { noticeSentence } from '#core/noticeSentence.ts';
import { endNotice, readNotice, reopenNotice } from '../letters/readNotices.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { serveDesk } from './serve.ts';
import { serveAction } from './serveAction.ts';
import { readDoneNotices, readToday } from './today.ts';

export const NO_NOTICE = 'There is no such notice. Perhaps its cause is mended.';
const OPEN_ALREADY = 'This notice is open, or its cause has come back since and is a new one.';

/** Serves the calls of the screen Today. */
export function todayRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveDesk(app, deps, 'getToday', () => readToday(deps));

  serveDesk(app, deps, 'getDoneNotices', async () => ({ notices: await readDoneNotices(deps) }));

  serveAction(
    app,
    deps,
    'markNoticeDone',
    {
      async preview({ deps, params, body: { undo } }) {
        const notice = await readNotice(deps, Number(params.id));
        if (!notice) throw new Refusal(404, NO_NOTICE);
        if (undo && notice.isOpen) throw new Failed(OPEN_ALREADY);
        if (!undo && notice.doneBy !== null)
          throw new Failed(`${notice.doneBy} has marked this as done already.`);
        const lines = [noticeSentence(notice, (uuid) => uuid)];
        return { lines, verb: undo ? 'Open again' : 'Done', seen: null };
      },
      async act({ deps, params, body: { undo } }) {
        const work = undo ? reopenNotice : endNotice;
        if (!(await work(deps, Number(params.id)))) throw new Failed(undo ? OPEN_ALREADY : NO_NOTICE);
        return { lines: [] };
      },
    },
    ({ params }) => `notice ${params.id}`,
  );
}
