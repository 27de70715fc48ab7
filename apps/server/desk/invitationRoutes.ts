import type { FastifyInstance } from 'fastify';
import { MOST_UNTYPED } from '#contract/deskLimits.ts';
import type { DeskBody, DeskData } from '#contract/deskSchemas.ts';
import { normaliseInviteCode } from '#core/inviteCode.ts';
import { pastFault } from '../joining/invitations/importInvitations.ts';
import {
  explainCode,
  extendCodes,
  openCodes,
  shortCodes,
  withdrawCodes,
} from '../joining/invitations/invitations.ts';
import {
  codesFor,
  type FoundInvitation,
  hasInvitations,
  type InvitationCursor,
  MOST_CHANGED,
  searchInvitations,
} from '../joining/invitations/searchInvitations.ts';
import { verdictOn } from '../joining/invitations/verdictOn.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dateOf, dayOf } from '../society/texts.ts';
import { csvPages, FILE_ROWS } from './csvPages.ts';
import type { Deps } from './deps.ts';
import { serveDesk } from './serve.ts';
import { serveAction } from './serveAction.ts';
import { programmeName } from './words.ts';

const NO_CURSOR = 'This list cannot go on from there. Load the page again.';
const TOO_MANY = `More than ${MOST_CHANGED.toLocaleString('en-US')} codes are found. Filter further, such as by campaign.`;
const NONE = 'No such code is left to be changed.';
const ROWS = 50;
/** How many codes one statement changes at most. */
const BATCH = 5_000;
/** Up to this many codes are listed by name before they are changed. */
const MOST_NAMED = 10;

type Which = DeskBody<'withdrawInvitations'>['which'];

/** Serves the calls of the screen Invitations. */
export function invitationRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveDesk(app, deps, 'explainInvitation', async ({ body }) => {
    const code = normaliseInviteCode(body.code);
    const found = await explainCode(deps, code);
    const { sentence, fault } = verdictOn(deps, code, found);
    const people =
      'code' in found
        ? [{ id: found.personId, name: found.name }]
        : found.near.map(({ personId, whom }) => ({ id: personId, name: whom }));
    return {
      sentence,
      fault,
      code: 'code' in found ? found.code : null,
      people: people.flatMap(({ id, name }) => (id === null ? [] : [{ id, name }])),
    };
  });

  serveDesk(app, deps, 'searchInvitations', async ({ body: { filter, next } }) => {
    const after = next === undefined ? null : cursorFrom(next);
    const page = await searchInvitations(deps, filter, { most: ROWS, after });
    return {
      rows: page.rows.map((row) => rowOf(deps, row)),
      next: page.next && `${page.next.micros}-${page.next.code}`,
      searchedTo: page.searchedTo?.toISOString() ?? null,
      hasAny: page.rows.length > 0 || (await hasInvitations(deps.database)),
      programmes: Object.entries(deps.society.programmes).map(([key, { name }]) => ({ key, name })),
    };
  });

  serveDesk(app, deps, 'getInvitationsFile', ({ body: { filter } }) => {
    const columns = ['code', 'person', 'name', 'school', 'programme', 'campaign', 'last day', 'state'];
    const pieces = csvPages(columns, async (after: InvitationCursor | null) => {
      const page = await searchInvitations(deps, filter, { most: FILE_ROWS, after });
      return {
        cells: page.rows.map((row) => {
          const { code, person, school, programme, campaign, lastDay, state } = rowOf(deps, row);
          return [
            code,
            person ? String(person.id) : '',
            person?.name ?? '',
            school ?? '',
            programme ?? '',
            campaign ?? '',
            lastDay ? dayOf(deps.society, new Date(lastDay)) : '',
            state,
          ];
        }),
        next: page.next,
      };
    });
    return { name: `invitations-${dayOf(deps.society, deps.now())}.csv`, pieces };
  });

  serveAction(
    app,
    deps,
    'withdrawInvitations',
    {
      async preview({ deps, body: { which } }) {
        const codes = await codesOf(deps, which);
        const open = await openCodes(deps, codes);
        if (open.length === 0) throw new Failed(NONE);
        return {
          lines: [
            ...named(open),
            `${counted(open)} ${open.length === 1 ? 'opens' : 'open'} no join any more.`,
            ...rest(codes, open, 'withdrawn already'),
            'Joins that began with them go on. Extending opens them again.',
            ...typing(open),
          ],
          verb: `Withdraw ${counted(open)}`,
          seen: open,
        };
      },
      async act({ deps, body: { typed } }, codes) {
        requireTyped(codes, typed);
        let changed = 0;
        for (const batch of batchesOf(codes)) changed += (await withdrawCodes(deps, batch)).length;
        return {
          lines: [`${changed.toLocaleString('en-US')} withdrawn.`, ...stayed(codes.length - changed)],
        };
      },
    },
    subjectOf,
  );

  serveAction(
    app,
    deps,
    'extendInvitations',
    {
      async preview({ deps, body: { which, until } }) {
        const fault = pastFault(until, deps.society, deps.now());
        if (fault) throw new Failed(fault);
        const codes = await codesOf(deps, which);
        const short = await shortCodes(deps, codes, until);
        if (short.length === 0) throw new Failed(NONE);
        const day = dateOf(deps.society, new Date(`${until}T12:00:00Z`));
        const later = short.filter(({ isLonger }) => !isLonger);
        const longer = short.filter(({ isLonger }) => isLonger);
        return {
          lines: [
            ...named(short.map(({ code }) => code)),
            ...(later.length === 0
              ? []
              : [`${counted(later)} ${later.length === 1 ? 'is' : 'are'} good until ${day}.`]),
            ...(longer.length === 0
              ? []
              : [
                  `${counted(longer)} ${longer.length === 1 ? 'stays' : 'stay'} good for longer than until ${day}.`,
                ]),
            ...(short.some(({ isWithdrawn }) => isWithdrawn)
              ? ['Those that were withdrawn are opened again.']
              : []),
            ...rest(codes, short, 'good for as long already'),
            ...typing(short),
          ],
          verb: `Extend ${counted(short)}`,
          seen: short,
        };
      },
      async act({ deps, body: { until, typed } }, short) {
        requireTyped(short, typed);
        let changed = 0;
        for (const batch of batchesOf(short)) changed += (await extendCodes(deps, batch, until)).length;
        return { lines: [`${changed.toLocaleString('en-US')} extended.`, ...stayed(short.length - changed)] };
      },
    },
    subjectOf,
  );
}

function rowOf(
  { society }: Pick<Deps, 'society'>,
  { code, personId, name, school, programme, campaign, expiresAt, state }: FoundInvitation,
): DeskData<'searchInvitations'>['rows'][number] {
  return {
    code,
    person: personId === null ? null : { id: personId, name },
    school,
    programme: programme && programmeName(society, programme),
    campaign,
    lastDay: expiresAt && new Date(expiresAt.getTime() - 1).toISOString(),
    state,
  };
}

/**
 * Returns the selected codes: those that are named, or those that match the filter. Throws {@link Failed} if they are too many.
 */
async function codesOf(deps: Deps, which: Which): Promise<string[]> {
  if ('codes' in which) return [...new Set(which.codes)];
  const codes = await codesFor(deps, which.filter);
  if (!codes) throw new Failed(TOO_MANY);
  return codes;
}

const counted = ({ length }: readonly unknown[]) =>
  `${length.toLocaleString('en-US')} ${length === 1 ? 'code' : 'codes'}`;

/** Returns a line that lists the codes, if they are few. */
function named(codes: readonly string[]): string[] {
  return codes.length <= MOST_NAMED ? [codes.join(', ')] : [];
}

/** Returns a line about the codes that will not be changed, if there are any. */
function rest(codes: readonly unknown[], changed: readonly unknown[], how: string): string[] {
  const left = codes.length - changed.length;
  return left === 0
    ? []
    : [`${left.toLocaleString('en-US')} of ${counted(codes)} ${left === 1 ? 'is' : 'are'} ${how}.`];
}

/** Returns a line about the codes that were skipped because somebody has changed them since they were shown, if there are any. */
function stayed(count: number): string[] {
  if (count === 0) return [];
  return [
    `${count.toLocaleString('en-US')} ${count === 1 ? 'has' : 'have'} changed meanwhile, and ${count === 1 ? 'stays' : 'stay'} so.`,
  ];
}

function typing(codes: readonly unknown[]): string[] {
  return codes.length <= MOST_UNTYPED ? [] : [sentenceToType(codes)];
}

const sentenceToType = (codes: readonly unknown[]) =>
  `Type the number ${codes.length} to confirm that you mean so many.`;

/** Throws a {@link Refusal} (400) if there are many codes and staff have not typed their number to confirm. */
function requireTyped(codes: readonly unknown[], typed: number | null): void {
  if (codes.length > MOST_UNTYPED && typed !== codes.length) throw new Refusal(400, sentenceToType(codes));
}

function* batchesOf<Code>(codes: readonly Code[]): Generator<Code[]> {
  for (let at = 0; at < codes.length; at += BATCH) yield codes.slice(at, at + BATCH);
}

/** Returns the subject for the record of actions: how many codes were named, or that a filter selected them. */
function subjectOf({ body: { which } }: { body: { which: Which } }): string {
  return 'codes' in which ? `codes ${which.codes.length}` : 'codes of a filter';
}

/** Parses the cursor after which a list's next page starts. Throws a {@link Refusal} (400) if it is malformed. */
function cursorFrom(next: string): InvitationCursor {
  const [, micros, code] = /^(\d{1,17})-([A-Z0-9]{1,64})$/.exec(next) ?? [];
  if (!micros || !code) throw new Refusal(400, NO_CURSOR);
  return { micros, code };
}
