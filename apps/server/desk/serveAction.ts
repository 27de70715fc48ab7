import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { DeskActionName, DeskBody, DeskDone, Shown } from '#contract/deskSchemas.ts';
import { plainLines } from '#core/cleanText.ts';
import type { ByStaff } from '../platform/deps.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import type { Staff } from './links.ts';
import { type DeskContext, type Subject, serveDesk } from './serve.ts';
import { withoutUuids } from './withoutUuids.ts';

const NOT_SHOWN = 'This has to be shown before it is done. Please look first.';
const CHANGED = 'This has changed since it was shown, so nothing was done. Please look again.';

/** The input of an action. The `actor` in `deps` is the member of staff who calls. */
export interface ActionContext<Name extends DeskActionName> {
  deps: ByStaff<Deps>;
  params: DeskContext<Name>['params'];
  body: DeskBody<Name>;
}

interface Action<Name extends DeskActionName, Seen> {
  /**
   * Returns what the action would do: sentences about it (`lines`), the label of the button (`verb`), and the value that the use
   * case takes as `seen`. Changes nothing. Throws {@link Failed} or a {@link Refusal} if the action is not possible.
   */
  preview(context: ActionContext<Name>): Promise<{ lines: string[]; verb: string; seen: Seen }>;
  /** Does what the preview has shown. Throws {@link Failed} if the preview is out of date, or a {@link Refusal}. */
  act(context: ActionContext<Name>, seen: Seen): Promise<DeskDone<Name>>;
}

/**
 * Registers an action. With `trial`, the call returns the preview. Otherwise it performs the action, if the preview is still the
 * one that was `seen`. If it is not, the answer is 409 with the new preview. If the use case fails, the answer is 409 with its
 * sentence. Sentences name joins by person and number instead of by uuid.
 */
export function serveAction<Name extends DeskActionName, Seen>(
  app: FastifyInstance,
  deps: Deps & { deskUrl: string },
  name: Name,
  { preview, act }: Action<Name, Seen>,
  subject?: Subject<Name>,
): void {
  const show = async (context: ActionContext<Name>) => {
    const { lines, verb, seen } = await orRefused(deps, preview(context));
    const said = (await withoutUuids(deps, lines)).map(plainLines);
    return { shown: { lines: said, verb, seen: hashOf([said, verb, seen]) } satisfies Shown, seen };
  };
  serveDesk(
    app,
    deps,
    name,
    async ({ staff, params, body }) => {
      const context = {
        deps: { ...deps, actor: (staff as Staff).name },
        params,
        body,
      } as ActionContext<Name>;
      const { trial, seen: hash } = body as { trial: boolean; seen?: string };
      const before = await show(context);
      if (trial) return before.shown as never;
      if (hash === undefined) throw new Refusal(400, NOT_SHOWN);
      if (hash !== before.shown.seen) throw changed(before.shown);
      try {
        const done: { lines: string[] } = await act(context, before.seen);
        return { ...done, lines: await withoutUuids(deps, done.lines) } as never;
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        const now = await show(context);
        if (now.shown.seen !== hash) throw changed(now.shown);
        return orRefused(deps, Promise.reject(error));
      }
    },
    subject,
  );
}

function changed(shown: Shown): Refusal {
  return new Refusal(409, CHANGED, { beside: { shown } });
}

/** Converts a {@link Failed} of a use case to a {@link Refusal}. */
export async function orRefused<T>(deps: Deps, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const [sentence] = await withoutUuids(deps, [error.message]);
    throw new Refusal(409, sentence!);
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url');
}
