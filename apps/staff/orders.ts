import { cleanText } from '#core/cleanText.ts';
import { addressLine, type Goods, goodsWords } from '#core/fulfilment.ts';
import { isWaiting, listParcels, type Parcel, parcelOf, takenBackOf } from '../server/membership/orders.ts';
import { daysWaiting, NO_ADDRESS, packed, packingColumns } from '../server/membership/packingList.ts';
import { type Shipped, shipOrder, unshipOrder } from '../server/membership/shipOrder.ts';
import { askWhatWentBack } from '../server/paying/refunds/askWhatWentBack.ts';
import { count } from '../server/people/privacy/counted.ts';
import { Failed } from '../server/platform/failed.ts';
import { command, Misuse, requireThere } from './command.ts';
import { day, print, printCsvLine, warn } from './print.ts';

export const orderCommands = [
  command({
    usage: 'orders list [--all] [--csv]',
    flags: ['all', 'csv'],
    summary:
      'What was bought and is still to be sent, the oldest first. With --all also what was sent, and what is not to be sent. With --csv the packing list of what is to be sent, to standard output.',
    async run(deps, _, { all, csv }) {
      if (all && csv) throw new Misuse();
      const parcels = await listParcels(deps, { all });
      const open = parcels.filter(({ goods }) => goods.some(isOpen));
      if (csv) printPackingList(open);
      else for (const parcel of parcels) printParcel(parcel, deps.now());
      const beside = csv ? warn : print;
      const waiting = open.reduce((sum, { goods }) => sum + goods.filter(isOpen).length, 0);
      const held = parcels.filter(({ goods }) => goods.some(({ state }) => state.is === 'held'));
      beside(
        open.length === 0
          ? 'Nothing is to be sent.'
          : `${waiting} to send to ${count(open.length, 'join')}, the oldest for ${waitingFor(open[0]!, deps.now())}.`,
      );
      const homeless = open.filter(({ address }) => address === null).length;
      if (homeless > 0) beside(`${homeless} of them with ${NO_ADDRESS}.`);
      if (held.length > 0) beside(`${held.length} held: staff decide, and ship them with --item.`);
    },
  }),
  command({
    usage: 'orders show JOIN',
    args: ['JOIN'],
    summary: 'What of a join is to be sent, where to, and what was sent when and by whom.',
    async run(deps, [uuid]) {
      await requireThere(deps, 'join', uuid);
      const parcel = await parcelOf(deps.database, deps.society, uuid);
      if (!parcel) throw new Failed(`Join ${uuid} has paid for nothing that is sent.`);
      printParcel(parcel, deps.now());
      const { address } = parcel;
      print('to', address === null ? NO_ADDRESS : addressLine(address));
      for (const back of await takenBackOf(deps.database, uuid))
        print(
          `${back.goods}: said to be sent on ${day(back.shipped_at)} by ${back.shipped_by}, taken back on ${day(back.unshipped_at!)} by ${back.unshipped_by}`,
        );
    },
  }),
  command({
    usage: 'orders ship JOIN [--item PRODUCTS] [--note TEXT] [--unasked]',
    args: ['JOIN'],
    flags: ['unasked'],
    texts: { item: '[PRODUCTS]', note: '[TEXT]' },
    summary:
      'Say that all that is open of a join was sent, or only these products (ID,ID), with a note such as a tracking number. What is held is sent only when it is named. Asked twice, sent once. Stripe is first asked what went back; --unasked does not ask it.',
    async run(deps, [uuid], { item, note = '', unasked }) {
      const silent = unasked ? null : await askWhatWentBack(deps, uuid);
      if (silent !== null)
        throw new Failed(
          `Nothing was recorded: Stripe did not say whether the payment was refunded or disputed. Try again in a minute. If that does not help, look at ${silent.join(' and ')} in Stripe's dashboard. If nothing went back there, repeat the command with --unasked.`,
        );
      const request = { items: numbersIn(item), note: cleanText(note) || null };
      return printShipped('sent', await shipOrder(deps, uuid, request));
    },
  }),
  command({
    usage: 'orders unship JOIN [--item PRODUCTS]',
    args: ['JOIN'],
    texts: { item: '[PRODUCTS]' },
    summary:
      'Take back that something of a join was sent: it is to be sent again. What was said before is kept.',
    run: async (deps, [uuid], { item }) =>
      printShipped('taken back', await unshipOrder(deps, uuid, { items: numbersIn(item) })),
  }),
];

/** Returns the numbers in a text such as `1,2`; null if there is no text. */
const numbersIn = (products: string | undefined) => products?.split(',').map(Number) ?? null;

/** Prints the goods that are `done` (a participle), and the state of the other goods. Returns whether any goods are `done`. */
function printShipped(done: string, { goods, others }: Shipped): boolean {
  for (const { name } of goods) print(`${name} is ${done}.`);
  for (const { name, state } of others) print(`${name}: ${goodsWords(state, day)}.`);
  if (goods.length === 0) warn(`Nothing is ${done}.`);
  return goods.length > 0;
}

function printParcel(parcel: Parcel, now: Date): void {
  const { uuid, name, address, paidAt, goods } = parcel;
  const waits = goods.some(isWaiting) ? `waits for ${waitingFor(parcel, now)}` : 'done';
  print(uuid, name ?? 'unknown', `paid ${day(paidAt)}`, waits, address === null && NO_ADDRESS.toUpperCase());
  for (const { productId, name, state } of goods)
    print(`  ${name} (product ${productId})`, goodsWords(state, day));
}

function printPackingList(parcels: readonly Parcel[]): void {
  printCsvLine([...packingColumns, 'join', 'paid']);
  for (const parcel of parcels)
    printCsvLine([
      ...packed({ ...parcel, goods: parcel.goods.filter(isOpen) }),
      parcel.uuid,
      day(parcel.paidAt),
    ]);
}

function isOpen({ state }: Goods): boolean {
  return state.is === 'open';
}

function waitingFor(parcel: Parcel, now: Date): string {
  return count(daysWaiting(parcel, now), 'day');
}
