import { cleanText, plain } from '#core/cleanText.ts';
import type { Goods } from '#core/fulfilment.ts';
import { isWaiting, listParcels, type Parcel, parcelOf, takenBackOf } from '../server/membership/orders.ts';
import { type Shipped, shipOrder, unshipOrder } from '../server/membership/shipOrder.ts';
import { askWhatWentBack } from '../server/paying/refunds/askWhatWentBack.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { Failed } from '../server/platform/failed.ts';
import { type Command, isAbsent, misused, notId, printCsvLine, readArgs } from './command.ts';
import { failureSentence } from './sentences/failures.ts';

const DAY_MS = 86_400_000;
const NO_ADDRESS = 'no address';
const COLUMNS = ['name', 'address1', 'address2', 'city', 'state', 'zip', 'country', 'items', 'join', 'paid'];

const day = (date: Date) => date.toISOString().slice(0, 10);
const days = (count: number) => `${count} day${count === 1 ? '' : 's'}`;

const ordersListOptions = {
  all: { type: 'boolean', default: false },
  csv: { type: 'boolean', default: false },
} as const;

export const ordersListCommand: Command = {
  options: ordersListOptions,
  usage: 'orders list [--all] [--csv]',
  summary:
    'What was bought and is still to be sent, the oldest first. With --all also what was sent, and what is not to be sent. With --csv the packing list of what is to be sent, to standard output.',
  async run(args, { deps }) {
    const read = readArgs(args, ordersListOptions);
    if (!read || read.positionals.length > 0 || (read.values.all && read.values.csv))
      return misused(ordersListCommand);
    const parcels = await listParcels(deps, read.values);
    const open = parcels.filter(({ goods }) => goods.some(({ state }) => state.is === 'open'));
    if (read.values.csv) printPackingList(open);
    else for (const parcel of parcels) print(parcel, deps.now());
    const beside = read.values.csv ? console.error : console.log;
    const waiting = open.reduce((sum, { goods }) => sum + goods.filter(isOpen).length, 0);
    const held = parcels.filter(({ goods }) => goods.some(({ state }) => state.is === 'held'));
    beside(
      open.length === 0
        ? 'Nothing is to be sent.'
        : `${waiting} to send to ${open.length} ${open.length === 1 ? 'join' : 'joins'}, the oldest for ${days(waitingDays(open[0]!, deps.now()))}.`,
    );
    const homeless = open.filter(({ address }) => address === null).length;
    if (homeless > 0) beside(`${homeless} of them with ${NO_ADDRESS}.`);
    if (held.length > 0) beside(`${held.length} held: staff decide, and ship them with --item.`);
    return 0;
  },
};

export const ordersShowCommand: Command = {
  usage: 'orders show JOIN',
  summary: 'What of a join is to be sent, where to, and what was sent when and by whom.',
  async run([uuid, ...more], { deps, database }) {
    if (!isUuid(uuid) || more.length > 0) return misused(ordersShowCommand, notId('join', uuid));
    if (await isAbsent(database, 'join', uuid)) return 1;
    const parcel = await parcelOf(database, deps.society, uuid);
    if (!parcel) {
      console.error(`Join ${uuid} has paid for nothing that is sent.`);
      return 1;
    }
    print(parcel, deps.now());
    const { address } = parcel;
    console.log(
      `to  ${address === null ? NO_ADDRESS : plain(Object.values(address).filter(Boolean).join(', '))}`,
    );
    for (const { goods, shipped_at, shipped_by, unshipped_at, unshipped_by } of await takenBackOf(
      database,
      uuid,
    ))
      console.log(
        plain(
          `${goods}: said to be sent on ${day(shipped_at)} by ${shipped_by}, taken back on ${day(unshipped_at!)} by ${unshipped_by}`,
        ),
      );
    return 0;
  },
};

const ordersUnshipOptions = { item: { type: 'string' } } as const;

export const ordersUnshipCommand: Command = {
  options: ordersUnshipOptions,
  usage: 'orders unship JOIN [--item PRODUCT_ID,PRODUCT_ID]',
  summary:
    'Take back that something of a join was sent: it is to be sent again. What was said before is kept.',
  async run(args, { deps }) {
    const read = readArgs(args, ordersUnshipOptions);
    const asked = read && readSubject(read.positionals, read.values.item);
    if (!asked) return misused(ordersUnshipCommand, notId('join', read?.positionals[0]));
    return said('taken back', async () => unshipOrder(deps, asked.uuid, { items: asked.items }));
  },
};

/** Runs `work`, and prints which goods are `done` (a participle) and how the others are. Returns the exit status. */
export async function said(done: string, work: () => Promise<Shipped>): Promise<number> {
  try {
    const { goods, others } = await work();
    for (const { name } of goods) console.log(`${plain(name)} is ${done}.`);
    for (const { name, state } of others) console.log(`${plain(name)}: ${tell(state)}.`);
    if (goods.length === 0) console.error(`Nothing is ${done}.`);
    return goods.length > 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    console.error(failureSentence(error));
    return 1;
  }
}

/** Returns the join and the product ids (null: all) that a command names; null if they are malformed. */
export function readSubject(
  positionals: readonly string[],
  item: string | undefined,
): { uuid: string; items: number[] | null } | null {
  const [uuid, ...more] = positionals;
  const ids = item?.split(',').map((id) => id.trim()) ?? [];
  if (!uuid || more.length > 0 || !isUuid(uuid) || !ids.every((id) => /^[1-9]\d{0,8}$/.test(id))) return null;
  return { uuid, items: item === undefined ? null : ids.map(Number) };
}

function print(parcel: Parcel, now: Date): void {
  const { uuid, name, address, paidAt, goods } = parcel;
  const waits = goods.some(isWaiting) ? `waits for ${days(waitingDays(parcel, now))}` : 'done';
  console.log(
    `${uuid}  ${plain(name ?? 'unknown')}  paid ${day(paidAt)}  ${waits}${address === null ? `  ${NO_ADDRESS.toUpperCase()}` : ''}`,
  );
  for (const { productId, name: item, state } of goods)
    console.log(`  ${plain(item)} (product ${productId})  ${tell(state)}`);
}

function tell(state: Goods['state']): string {
  switch (state.is) {
    case 'open':
      return 'to send';
    case 'held':
      return `held: ${state.because}`;
    case 'ended':
      return `not to be sent: ${state.because}`;
    case 'sent': {
      const { shippedAt, shippedBy, note } = state.shipment;
      const back = state.isOwed ? '' : ', and its money went back since';
      return plain(`sent on ${day(shippedAt)} by ${shippedBy}${note ? ` (${note})` : ''}${back}`);
    }
  }
}

function printPackingList(parcels: readonly Parcel[]): void {
  const lines = parcels.map(({ uuid, name, address, paidAt, goods }) => {
    const {
      address1 = NO_ADDRESS,
      address2 = '',
      city = '',
      state = '',
      zip = '',
      country = '',
    } = address ?? {};
    const items = goods.filter(isOpen).map((each) => each.name);
    return [name ?? '', address1, address2, city, state, zip, country, items.join('; '), uuid, day(paidAt)];
  });
  for (const line of [COLUMNS, ...lines]) printCsvLine(line);
}

function isOpen({ state }: Goods): boolean {
  return state.is === 'open';
}

function waitingDays({ paidAt }: Parcel, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - paidAt.getTime()) / DAY_MS));
}

const ordersShipOptions = {
  item: { type: 'string' },
  note: { type: 'string' },
  unasked: { type: 'boolean', default: false },
} as const;

export const ordersShipCommand: Command = {
  options: ordersShipOptions,
  usage: 'orders ship JOIN [--item PRODUCT_ID,PRODUCT_ID] [--note TEXT] [--unasked]',
  summary:
    'Say that all that is open of a join was sent, or only these products, with a note such as a tracking number. What is held is sent only when it is named. Asked twice, sent once. Stripe is first asked what went back; --unasked does not ask it.',
  async run(args, { deps }) {
    const read = readArgs(args, ordersShipOptions);
    const asked = read && readSubject(read.positionals, read.values.item);
    if (!asked) return misused(ordersShipCommand, notId('join', read?.positionals[0]));
    const note = cleanText(read.values.note ?? '') || null;
    const unasked = read.values.unasked ? null : await askWhatWentBack(deps, asked.uuid);
    if (unasked !== null) {
      console.error(
        `Nothing was recorded: Stripe did not say whether the payment was refunded or disputed. Try again in a minute. If that does not help, look at ${unasked.join(' and ')} in Stripe's dashboard. If nothing went back there, repeat the command with --unasked.`,
      );
      return 1;
    }
    return said('sent', async () => shipOrder(deps, asked.uuid, { items: asked.items, note }));
  },
};
