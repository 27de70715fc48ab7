import type { FastifyInstance } from 'fastify';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { waitingAtHubspot } from '../crm/deliveries.ts';
import { diffOfPerson } from '../crm/diffJoin.ts';
import { CrmRefused, CrmUnavailable } from '../crm/hubspot/errors.ts';
import { hasSynced } from '../crm/syncContacts.ts';
import { type PersonCursor, peopleWaiting, searchPeople } from '../joining/findJoins.ts';
import { showLetter } from '../letters/showLetter.ts';
import { showPerson } from '../people/showPerson.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dayOf } from '../society/texts.ts';
import { csvPages, FILE_ROWS } from './csvPages.ts';
import type { Deps } from './deps.ts';
import { eventsAbout } from './events.ts';
import { personAnswer } from './personAnswer.ts';
import { NOBODY, presentPersonOf } from './presentPersonOf.ts';
import { problemsOf } from './problems.ts';
import { serveDesk } from './serve.ts';
import { withoutUuids } from './withoutUuids.ts';
import { programmeName } from './words.ts';

export const NO_LETTER = 'There is no such letter.';
const NO_RECIPIENT = 'No email address is known that this letter could go to.';
export const NO_CURSOR = 'This list cannot go on from there. Begin it again.';

const ROWS = 50;

/** Serves the calls of the screens People and Person. */
export function peopleRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const answer = async ({ rows, next }: Awaited<ReturnType<typeof searchPeople>>) => ({
    rows: rows.map(({ programme, paidAt, memberNumber, ...row }) => ({
      ...row,
      programme: programme && programmeName(deps.society, programme),
      paidAt: paidAt?.toISOString() ?? null,
      memberNumber: memberNumber && displayMemberNumber(memberNumber),
    })),
    next: next && `${next.micros}-${next.id}`,
    knowsContacts: await hasSynced(deps),
  });
  const pageAt = (next: string | undefined) => ({
    most: ROWS,
    after: next === undefined ? null : cursorFrom(next),
  });

  serveDesk(app, deps, 'searchPeople', async ({ body: { text, next, atHubspot } }) => {
    const known = atHubspot ? await deps.contacts.learnWho(text) : null;
    const found = await answer(await searchPeople(deps, text, pageAt(next)));
    return { ...found, atHubspot: known === 'known' ? null : known };
  });

  serveDesk(app, deps, 'getWaiting', async ({ query: { queue, next } }) =>
    answer(await peopleWaiting(deps, queue, pageAt(next))),
  );

  serveDesk(app, deps, 'getPeopleFile', ({ body }) => {
    const columns = ['person', 'name', 'email', 'programme', 'state', 'paid', 'member number'];
    const pieces = csvPages(columns, async (after: PersonCursor | null) => {
      const page = { most: FILE_ROWS, after };
      const { rows, next } = await ('text' in body
        ? searchPeople(deps, body.text, page)
        : peopleWaiting(deps, body.queue, page));
      return {
        cells: rows.map(({ id, name, email, programme, state, paidAt, memberNumber }) => [
          String(id),
          name ?? '',
          email ?? '',
          programme ? programmeName(deps.society, programme) : '',
          state ?? '',
          paidAt ? dayOf(deps.society, paidAt) : '',
          memberNumber ? displayMemberNumber(memberNumber) : '',
        ]),
        next,
      };
    });
    return { name: `people-${dayOf(deps.society, deps.now())}.csv`, pieces };
  });

  serveDesk(app, deps, 'getPerson', async ({ params }) => {
    const person = await showPerson(deps, Number(params.id));
    if (!person) throw new Refusal(404, NOBODY);
    const [problems, events] = await Promise.all([problemsOf(deps, person), eventsAbout(deps, person.ids)]);
    return personAnswer(deps.society, person, { problems, events });
  });

  serveDesk(app, deps, 'getPersonAtHubspot', async ({ params }) => {
    const id = await presentPersonOf(deps, params);
    const waiting = await waitingAtHubspot(deps, id);
    const diff = await diffOfPerson(deps, id).catch((error) => {
      if (error instanceof CrmUnavailable || error instanceof CrmRefused)
        throw new Refusal(503, `HubSpot: ${error.message}`);
      throw error;
    });
    if (!diff) throw new Refusal(404, NOBODY);
    return {
      contactId: diff.contactId,
      refusal: waiting.refusal && (await withoutUuids(deps, [waiting.refusal]))[0]!,
      waitsSince: waiting.waitsSince?.toISOString() ?? null,
      changes: diff.changes,
    };
  });

  serveDesk(app, deps, 'getLetter', async ({ params }) => {
    const letter = await showLetter(deps, params.id, { isSealed: true });
    if (!letter) throw new Refusal(404, NO_LETTER);
    if (!letter.mail) throw new Refusal(409, NO_RECIPIENT);
    const { to, subject, text } = letter.mail;
    return { to, subject, text, isHeld: letter.isHeld };
  });
}

/** Parses the cursor after which a list's next page starts. Throws a {@link Refusal} (400) if it is malformed. */
function cursorFrom(next: string): PersonCursor {
  const [, micros, id] = /^(\d{1,17})-(\d{1,15})$/.exec(next) ?? [];
  if (!micros || !id) throw new Refusal(400, NO_CURSOR);
  return { micros, id: Number(id) };
}
