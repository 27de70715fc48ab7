import type { FastifyInstance } from 'fastify';
import { type Again, refusedByHubspot, sendAgainToHubspot } from '../crm/behind.ts';
import { waitingAtHubspot } from '../crm/deliveries.ts';
import { keepApart, type Merge, mergePersons, previewMerge } from '../people/mergePersons.ts';
import { BOTH_HOLD, KEPT_APART, resultSentence, seenSentence } from '../people/mergeSentences.ts';
import { personAtHubspot } from '../people/personNamed.ts';
import { samePersons } from '../people/showPerson.ts';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';
import { presentPersonOf } from './presentPersonOf.ts';
import { serveAction } from './serveAction.ts';

/** How many refusals are listed individually. */
const MOST_TOLD = 10;
const NEVER_TOLD = 'HubSpot was never to be told of this person: nothing is sent again.';

/** Serves the calls that send data to HubSpot again, link contacts, and merge persons or keep them apart. */
export function hubspotRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveAction(
    app,
    deps,
    'retryAtHubspot',
    {
      async preview({ deps, body: { person } }) {
        const verb = 'Send to HubSpot again';
        if (person === null) {
          const refused = await refusedByHubspot(deps.database, MOST_TOLD + 1);
          if (refused.length === 0) throw new Failed('HubSpot refuses nothing: nothing is sent again.');
          const lines = refused
            .slice(0, MOST_TOLD)
            .map(({ who, what, reason }) =>
              who === what ? `${who}: ${reason}` : `${who} (${what}): ${reason}`,
            );
          if (refused.length > MOST_TOLD) lines.push('And others.');
          return { lines, verb, seen: 'all' as Again };
        }
        const id = await presentPersonOf(deps, { id: String(person) });
        const { refusal } = await waitingAtHubspot(deps, id);
        const lines = [
          ...(refusal === null ? [] : [`HubSpot refused it: ${refusal}`]),
          'What HubSpot is told of this person, and the documents that it refused, are sent again within a minute.',
        ];
        return { lines, verb, seen: { persons: await samePersons(deps, id) } as Again };
      },
      async act({ deps }, which) {
        if ((await sendAgainToHubspot(deps.database, which)) === 0) throw new Failed(NEVER_TOLD);
        return { lines: [] };
      },
    },
    ({ body: { person } }) => (person === null ? 'HubSpot' : String(person)),
  );

  serveAction(
    app,
    deps,
    'linkContact',
    {
      async preview({ deps, params, body: { contact } }) {
        const id = await presentPersonOf(deps, params);
        const merge = await previewMerge(deps, id, await personAtHubspot(deps, contact));
        return { lines: linesOf(merge), verb: 'Link to the contact', seen: merge };
      },
      act: mergeAsSeen,
    },
    ({ params }) => params.id,
  );

  serveAction(
    app,
    deps,
    'joinPersons',
    {
      async preview({ deps, params, body }) {
        const ids = [
          await presentPersonOf(deps, params),
          await presentPersonOf(deps, otherOf(body)),
        ] as const;
        const merge = await previewMerge(deps, ...ids);
        return { lines: linesOf(merge), verb: 'Join them', seen: merge };
      },
      act: mergeAsSeen,
    },
    ({ params }) => params.id,
  );

  serveAction(
    app,
    deps,
    'keepApart',
    {
      async preview({ deps, params, body }) {
        const ids = [
          await presentPersonOf(deps, params),
          await presentPersonOf(deps, otherOf(body)),
        ] as const;
        if (ids[0] === ids[1]) throw new Failed('They are one person already.');
        const lines = ['They are two, though they are alike, as father and son. Nobody asks again.'];
        return { lines, verb: 'Keep them apart', seen: ids };
      },
      async act({ deps }, ids) {
        await keepApart(deps, ...ids);
        return { lines: [] };
      },
    },
    ({ params }) => params.id,
  );
}

const otherOf = ({ other }: { other: number }) => ({ id: String(other) });

async function mergeAsSeen({ deps }: { deps: Deps }, merge: Merge): Promise<{ lines: string[] }> {
  await mergePersons(deps, merge);
  return { lines: ['HubSpot is told within a minute.'] };
}

function linesOf(merge: Merge): string[] {
  const told = resultSentence(merge);
  return [
    `Remains: ${seenSentence(merge.into)}.`,
    `Becomes the same: ${seenSentence(merge.from)}.`,
    ...(told === null ? [] : [told]),
    ...(merge.isKeptApart ? [KEPT_APART] : []),
    ...(merge.twice.length > 0 ? [`${BOTH_HOLD}.`] : []),
    'For a day, whoever runs the server can undo it.',
  ];
}
