import type { FastifyInstance } from 'fastify';
import { fieldLabels } from '#core/studentDetails.ts';
import {
  correctionSentences,
  correctPerson,
  NotCorrectable,
  previewCorrection,
  readCorrectable,
} from '../people/correctPerson.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { presentPersonOf } from './presentPersonOf.ts';
import { serveDesk } from './serve.ts';
import { orRefused, serveAction } from './serveAction.ts';

/** Serves the calls that correct a person's data. */
export function correctRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveDesk(app, deps, 'getCorrectable', async ({ params }) => ({
    details: await orRefused(deps, readCorrectable(deps, await presentPersonOf(deps, params))),
  }));

  serveAction(
    app,
    deps,
    'correctPerson',
    {
      async preview({ deps, params, body: { details, sendAgain, endLinks } }) {
        const id = await presentPersonOf(deps, params);
        const seen = await previewCorrection(deps, id, details).catch((error: unknown) => {
          if (!(error instanceof NotCorrectable) || Object.keys(error.errors).length === 0) throw error;
          throw new Refusal(400, error.message, { errors: error.errors });
        });
        const isAnything = seen.fields.length > 0 || endLinks || (sendAgain && seen.confirmations > 0);
        if (!isAnything) throw new Failed('All of that is so already.');
        const lines = [
          ...seen.fields.map(
            ({ field, from, to }) => `${fieldLabels[field]}: ${from || '(empty)'} → ${to || '(empty)'}`,
          ),
          ...(seen.fields.length > 0 ? ['HubSpot is told within a minute.'] : []),
          ...correctionSentences(seen, { resends: sendAgain, endsLinks: endLinks }),
        ];
        return { lines, verb: 'Correct', seen: { id, correction: seen } };
      },
      async act({ deps, body: { details, sendAgain, endLinks } }, { id, correction }) {
        await correctPerson(deps, id, details, {
          seen: correction,
          resends: sendAgain,
          endsLinks: endLinks,
        });
        return { lines: [] };
      },
    },
    ({ params }) => params.id,
  );
}
