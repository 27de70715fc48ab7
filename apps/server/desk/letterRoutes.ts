import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { parseDollars } from '#core/money.ts';
import { floorOf } from '#core/price.ts';
import { isMembershipType } from '#core/product.ts';
import { planLinks } from '../joining/links/planLinks.ts';
import { revokePasses } from '../joining/pass/revoke.ts';
import { remindersOf, setReminders } from '../letters/remind.ts';
import {
  isLetterOf,
  NotSentAgain,
  previewLinkLetter,
  previewResending,
  sendAgain,
  sendLinkLetter,
} from '../letters/sendAgain.ts';
import { presentContact, samePersons } from '../people/showPerson.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dateOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { joinOf } from './joinOf.ts';
import { NO_LETTER } from './peopleRoutes.ts';
import { presentPersonOf } from './presentPersonOf.ts';
import { serveDesk } from './serve.ts';
import { type ActionContext, serveAction } from './serveAction.ts';
import { programmeName } from './words.ts';

const NO_AMOUNT = 'Enter an amount in dollars, such as 45 or 45.50.';
const NO_CONTACT = 'This person has no contact in HubSpot, whom a link would name.';
const kinds = { start: 'init', checkout: 'checkout', resume: 'resume' } as const;

/** Serves the calls that send letters to a person, stop reminders, and create and revoke links. */
export function letterRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const ofPerson = ({ params }: { params: { id: string } }) => params.id;

  serveAction(
    app,
    deps,
    'sendLetter',
    {
      async preview({ deps, params, body: { letter, to } }) {
        const persons = await samePersons(deps, await presentPersonOf(deps, params));
        if (!(await isLetterOf(deps, letter, persons))) throw new Refusal(404, NO_LETTER);
        const seen = await previewResending(deps, letter, to).catch((error: unknown) => {
          if (!(error instanceof NotSentAgain && error.isAddress)) throw error;
          throw new Refusal(400, error.message, { errors: { to: error.message } });
        });
        const lines = [
          `“${seen.subject}” goes to ${seen.to}.`,
          ...(seen.isElsewhere
            ? ['A link in it opens the join: whoever reads this address can use it.']
            : []),
          ...(seen.refusal === null ? [] : [`The mail server refused it before: ${seen.refusal}`]),
        ];
        return { lines, verb: 'Send again', seen };
      },
      async act({ deps, body: { letter } }, seen) {
        await sendAgain(deps, letter, seen);
        return { lines: [] };
      },
    },
    ofPerson,
  );

  serveAction(
    app,
    deps,
    'sendJoinLink',
    {
      async preview({ deps, params, body }) {
        const uuid = await joinOf(deps, params, body.join);
        const seen = await previewLinkLetter(deps, uuid);
        const lines = [`The link goes to ${seen.to}. It opens join ${body.join} for 30 days.`];
        return { lines, verb: 'Send the link', seen: { uuid, letter: seen } };
      },
      async act({ deps }, { uuid, letter }) {
        await sendLinkLetter(deps, uuid, letter);
        return { lines: [] };
      },
    },
    ofPerson,
  );

  serveAction(
    app,
    deps,
    'stopReminders',
    {
      async preview({ deps, params }) {
        const persons = await samePersons(deps, await presentPersonOf(deps, params));
        const known = await remindersOf(deps, persons);
        const emails = known.flatMap(({ email, isStopped }) => (isStopped ? [] : [email]));
        if (emails.length === 0)
          throw new Failed(
            known.length === 0
              ? 'No email address is known that reminders could go to.'
              : 'Reminders are stopped already.',
          );
        const lines = emails.map((email) => `No more reminders go to ${email}.`);
        return { lines, verb: 'Stop reminders', seen: emails };
      },
      async act({ deps }, emails) {
        for (const email of emails) await setReminders(deps, email, true);
        return { lines: [] };
      },
    },
    ofPerson,
  );

  serveAction(
    app,
    deps,
    'endLinks',
    {
      async preview({ deps, params }) {
        const persons = await samePersons(deps, await presentPersonOf(deps, params));
        const lines = [
          'Links in letters that were mailed before open nothing any more, and their codes neither.',
          'Letters that are sent from now on have a link that opens the join.',
        ];
        return { lines, verb: 'End links', seen: persons };
      },
      async act({ deps }, persons) {
        const joins = await revokePasses(
          deps.database,
          sql`person_id = any(${persons}::bigint[])`,
          deps.now(),
        );
        if (joins.length === 0) throw new Failed('This person has no join, so no link was mailed.');
        return { lines: [] };
      },
    },
    ofPerson,
  );

  serveDesk(app, deps, 'getLinkProducts', () => {
    const { society } = deps;
    const sold = society.offers.filter(({ id, type }) => isMembershipType(type) && society.linkOffer(id));
    // Two programmes may sell products of the same name.
    const nameOf = ({ name, programme }: (typeof society.offers)[number]) =>
      society.offers.filter((other) => other.name === name).length > 1 && programme !== undefined
        ? `${name} (${programmeName(society, programme)})`
        : name;
    const named = sold.map((product) => ({
      id: product.id,
      name: nameOf(product),
      priceCents: product.priceCents ?? 0,
      floorCents: floorOf(product),
    }));
    const upgrades = society.offers.filter(({ type }) => type === 'membership_upgrade');
    return {
      products: named,
      upgrades: upgrades.map((upgrade) => ({
        id: upgrade.id,
        name: nameOf(upgrade),
        priceCents: upgrade.priceCents ?? 0,
      })),
    };
  });

  serveAction(
    app,
    deps,
    'makeLink',
    {
      async preview(context) {
        const { deps, params } = context;
        const contactId = await presentContact(deps, await presentPersonOf(deps, params));
        if (contactId === null) throw new Failed(NO_CONTACT);
        const { does, expires, lookUp } = planLinks(deps, wantedOf(context));
        const [recipient] = await lookUp([contactId]);
        const { who, refusal, isLookedUp } = recipient!;
        if (refusal !== null) throw new Failed(`No link is signed, since ${who} ${refusal}.`);
        const lines = [
          `For ${who}.`,
          `The link ${does}.`,
          `It works until ${dateOf(deps.society, expires)}, for anyone who has it.`,
          ...(isLookedUp ? [] : ['HubSpot does not answer, so only what is known here could be judged.']),
        ];
        return { lines, verb: 'Make the link', seen: contactId };
      },
      async act(context, contactId) {
        const { does, expires, mint } = planLinks(context.deps, wantedOf(context));
        const until = dateOf(context.deps.society, expires);
        return { lines: [`It ${does}, and works until ${until}.`], url: mint(contactId) };
      },
    },
    ofPerson,
  );
}

/** Returns the requested link. Throws 400 if the price is not a valid amount. */
function wantedOf({ body: { kind, product, dollars, upgrade, days } }: ActionContext<'makeLink'>) {
  const cents = dollars.trim() === '' ? null : parseDollars(dollars);
  if (kind === 'checkout' && dollars.trim() !== '' && cents === null)
    throw new Refusal(400, NO_AMOUNT, { errors: { dollars: NO_AMOUNT } });
  const parameters =
    kind === 'checkout'
      ? {
          ...(product !== null && { mp: String(product) }),
          ...(upgrade !== null && { usp: String(upgrade) }),
          ...(cents !== null && { c: String(cents) }),
        }
      : {};
  return { kind: kinds[kind], parameters, days };
}
