import type { FastifyInstance } from 'fastify';
import { addressLine } from '#core/fulfilment.ts';
import type { ParcelCursor } from '../membership/orders.ts';
import { shipLines, unshipLines } from '../membership/shipOrder.ts';
import { askWhatWentBack } from '../paying/refunds/askWhatWentBack.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dayOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import {
  findGoods,
  hindrance,
  type Line,
  nameOf,
  outcomesOf,
  packingList,
  parcelRow,
  parcelsAt,
  wordsOf,
} from './parcels.ts';
import { serveDesk } from './serve.ts';
import { serveAction } from './serveAction.ts';

const NO_CURSOR = 'This list cannot go on from there. Load the page again.';
const SILENT =
  'Nothing was recorded: Stripe did not say whether these payments were refunded or disputed. Try again in a minute.';
const ROWS = 50;
/** How many joins are checked at Stripe at the same time. */
const AT_ONCE = 5;

/** Serves the calls of the screen Parcels. */
export function parcelRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  serveDesk(app, deps, 'getParcels', async ({ query: { tab, next } }) => {
    const page = await parcelsAt(deps, tab, {
      most: ROWS,
      after:
        next === undefined
          ? null
          : cursorFrom(next, tab === 'sent' ? /^(\d{1,17})-(\d{1,17})$/ : /^(\d{1,17})-(\w{1,100})$/),
    });
    return {
      rows: page.parcels.map((parcel) => parcelRow(deps, parcel)),
      next: page.next && `${page.next.micros}-${page.next.id}`,
    };
  });

  serveDesk(
    app,
    deps,
    'getPackingList',
    ({ query: { tab } }) => ({
      name: `parcels-${tab}-${dayOf(deps.society, deps.now())}.csv`,
      pieces: packingList(deps, tab),
    }),
    ({ query: { tab } }) => tab,
  );

  serveAction(
    app,
    deps,
    'shipGoods',
    {
      async preview({ deps, body: { lines, evenHeld } }) {
        const found = await findGoods(deps, lines);
        const said: string[] = [];
        let count = 0;
        for (const { parcel, goods } of found) {
          const toSend = goods.filter((each) => hindrance(deps, parcel, each, evenHeld) === null);
          count += toSend.length;
          if (toSend.length > 0)
            said.push(
              `${toSend.map(({ name }) => name).join(', ')} to ${nameOf(parcel)}, ${addressLine(parcel.address!)}`,
            );
          for (const each of goods) {
            const why = hindrance(deps, parcel, each, evenHeld);
            if (why !== null) said.push(`${each.name} of ${nameOf(parcel)}: ${why}. It stays as it is.`);
          }
        }
        if (count === 0) throw new Failed(`Nothing of this can be marked as sent. ${said.join(' ')}`);
        return { lines: said, verb: evenHeld ? 'Send anyway' : `Mark ${count} as sent`, seen: null };
      },
      async act({ deps, body: { lines, note, evenHeld } }) {
        const found = await findGoods(deps, lines);
        const joins = found.map(({ parcel }) => parcel.uuid);
        for (let at = 0; at < joins.length; at += AT_ONCE) {
          const silent = await Promise.all(
            joins.slice(at, at + AT_ONCE).map((uuid) => askWhatWentBack(deps, uuid)),
          );
          if (silent.some((intents) => intents !== null)) throw new Failed(SILENT);
        }
        const noteOf = ({ intentId, line }: { intentId: string; line: number }) =>
          lines.find((each) => each.intent === intentId && each.line === line)?.note || note || null;
        const outcomes = [];
        for (const named of found) {
          const { parcel } = named;
          // The preview has said that goods without an address are skipped.
          if (parcel.address === null) continue;
          const shipped = await shipLines(deps, parcel.uuid, {
            lines: named.goods.map((each) => ({ ...each, note: noteOf(each) })),
            withHeld: evenHeld,
          });
          outcomes.push(...outcomesOf(deps, named, shipped));
        }
        const sent = outcomes.filter(({ outcome }) => outcome === 'sent').length;
        return { lines: [`${sent} of ${outcomes.length} sent.`], outcomes };
      },
    },
    subjectOf,
  );

  serveAction(
    app,
    deps,
    'unshipGoods',
    {
      async preview({ deps, body: { lines } }) {
        const found = await findGoods(deps, lines);
        const said = found.flatMap(({ parcel, goods }) =>
          goods.map((each) => {
            if (each.state.is !== 'sent')
              throw new Failed(`${each.name} of ${nameOf(parcel)}: ${wordsOf(deps, each.state)}.`);
            return `${each.name} of ${nameOf(parcel)} was ${wordsOf(deps, each.state)}. It is to be sent again. Its story keeps what was said.`;
          }),
        );
        return { lines: said, verb: 'Take back', seen: null };
      },
      async act({ deps, body: { lines } }) {
        for (const { parcel, goods } of await findGoods(deps, lines)) {
          const { others } = await unshipLines(deps, parcel.uuid, goods);
          if (others.length > 0) throw new Failed('Somebody else has taken this back meanwhile.');
        }
        return { lines: [] };
      },
    },
    subjectOf,
  );
}

/** Returns the person's number, or the number of persons if there are several. */
function subjectOf({ body }: { body: { lines: readonly Line[] } }): string {
  const people = new Set(body.lines.map(({ person }) => person));
  return people.size === 1 ? String([...people][0]) : `goods of ${people.size} people`;
}

function cursorFrom(next: string, form: RegExp): ParcelCursor {
  const [, micros, id] = form.exec(next) ?? [];
  if (!micros || !id) throw new Refusal(400, NO_CURSOR);
  return { micros, id };
}
