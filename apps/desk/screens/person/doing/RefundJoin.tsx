import { useState } from 'react';
import { displayPrice } from '#core/money.ts';
import { isMembershipType } from '#core/product.ts';
import { Checkbox } from '#ui/Field.tsx';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import { isPaid } from '../joins.ts';
import type { PersonData } from '../loadPerson.ts';
import { ChooseJoin, joinIn } from './ChooseJoin.tsx';
import type { DoingProps } from './props.ts';

type Line = PersonData['joins'][number]['payments'][number]['lines'][number];

/**
 * A dialog that refunds the ticked lines of a join. `about` has the URL's parameters: the join, and the lines that are ticked at
 * first.
 */
export function RefundJoin({ person, about, onClose }: DoingProps) {
  const joins = person.joins.filter(isPaid);
  const [number, setNumber] = useState(joinIn(about, joins));
  const join = joins.find((each) => each.number === number);
  const lines = join ? linesOf(join) : [];
  const [ticks, setTicks] = useState<Record<string, boolean>>({});
  const isTicked = (line: Line) => !isGone(line) && (ticks[keyOf(line)] ?? isMeant(line, about));
  const has = (type: Line['type']) => lines.some((line) => line.type === type && isTicked(line));
  const isIneligible = ticks.ineligible ?? about.has('ineligible');
  const tick = (key: string) => (event: { target: { checked: boolean } }) =>
    setTicks({ ...ticks, [key]: event.target.checked });
  return (
    <ActionDialog
      isMoney
      asked={
        join
          ? {
              name: 'refundJoin',
              params: { id: String(person.id) },
              body: {
                join: join.number,
                membership: has('membership'),
                ineligible: has('membership') && isIneligible,
                upgrade: has('membership_upgrade'),
                items: lines
                  .filter((line) => !isMembershipType(line.type) && isTicked(line))
                  .map(({ productId }) => productId),
              },
            }
          : null
      }
      title="What goes back?"
      done="The refund is decided."
      onClose={onClose}
    >
      <ChooseJoin
        joins={joins}
        number={number}
        onChoose={(chosen) => {
          setNumber(chosen);
          setTicks({});
        }}
      />
      <div>
        {lines.map((line) => (
          <Checkbox
            key={keyOf(line)}
            id={keyOf(line)}
            label={labelOf(line)}
            hint={hintOf(line)}
            disabled={isGone(line)}
            checked={isTicked(line)}
            onChange={tick(keyOf(line))}
          />
        ))}
        {has('membership') && (
          <Checkbox
            id="ineligible"
            label="The person was not eligible"
            hint="The processing fee is kept."
            checked={isIneligible}
            onChange={tick('ineligible')}
          />
        )}
      </div>
    </ActionDialog>
  );
}

const labelOf = ({ type, name }: Line) =>
  type === 'membership' ? 'Membership' : type === 'membership_upgrade' ? 'Upgrade' : name;
const keyOf = ({ productId }: Line) => `line-${productId}`;
const isGone = ({ priceCents, refundedCents }: Line) => refundedCents >= priceCents;

function hintOf(line: Line): string {
  const { name, priceCents, refundedCents } = line;
  const back = refundedCents > 0 ? `, of which ${displayPrice(refundedCents)} went back` : '';
  const of = name === labelOf(line) ? '' : `${name}, `;
  return `${of}${displayPrice(priceCents)}${back}`;
}

function linesOf({ payments }: PersonData['joins'][number]): Line[] {
  const paid = payments.filter(({ status }) => status === 'succeeded').flatMap(({ lines }) => lines);
  return paid.filter(
    (line, index) => paid.findIndex(({ productId }) => productId === line.productId) === index,
  );
}

/** Whether a line is ticked at first: according to the URL; without such parameters, only the membership. */
function isMeant({ type, productId }: Line, about: URLSearchParams): boolean {
  if (!about.has('types')) return type === 'membership';
  if (isMembershipType(type)) return about.get('types')!.split(',').includes(type);
  const items = about.get('items') ?? '';
  return items === 'all' || items.split(',').includes(String(productId));
}
