import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import { deskOffers } from '#core/deskOffers.ts';
import { differenceSentence } from '#core/differenceSentence.ts';
import { lastReconciliations } from '../books/reconcile.ts';
import { isIntentId } from '../paying/namedOrder.ts';
import { nameJoins } from '../people/nameJoins.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import type { Deps } from './deps.ts';
import { readPlaces } from './readPlaces.ts';
import { withoutUuids } from './withoutUuids.ts';

const NIGHTS = 14;

/** Returns the last comparisons of Stripe's money with our memberships, and the persons whom their differences concern. */
export async function reconciliations(deps: Deps): Promise<DeskData<'getReconciliations'>> {
  const nights = await lastReconciliations(deps.database, NIGHTS);
  const subjects = [
    ...new Set(nights.flatMap(({ differences }) => differences.map(({ subject }) => subject))),
  ];
  const { rows } = await sql<{ intent: string; uuid: string }>`
    select intent_id as intent, session_uuid as uuid from payment where intent_id = any(${subjects}::text[])`.execute(
    deps.database,
  );
  const joinOf = new Map(rows.map(({ intent, uuid }) => [intent, uuid]));
  const uuidOf = (subject: string) => (isIntentId(subject) ? joinOf.get(subject) : subject);
  const persons = await nameJoins(deps, subjects.flatMap((subject) => uuidOf(subject) ?? []).filter(isUuid));
  const places = await readPlaces(
    deps,
    nights.flatMap(({ differences }) => differences.map(({ remedy }) => remedy)),
  );
  return {
    nights: await Promise.all(
      nights.map(async ({ finished_at, counts, differences }) => {
        const texts = await withoutUuids(deps, differences.map(differenceSentence));
        return {
          at: finished_at.toISOString(),
          payments: counts.payments ?? 0,
          differences: differences.map(({ subject, remedy }, index) => {
            const person = persons.get(uuidOf(subject) ?? '');
            return {
              text: texts[index]!,
              intent: isIntentId(subject) ? subject : null,
              person: person ? { id: person.personId, name: person.name } : null,
              ...deskOffers(remedy, places),
            };
          }),
        };
      }),
    ),
  };
}
