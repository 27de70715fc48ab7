import type { ReactNode } from 'react';
import { displayPrice } from '#core/money.ts';
import { hasRightsOf } from '#core/staff.ts';
import { Button } from '#ui/Button.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { useMe } from '../../lib/me.ts';
import { useDoing } from '../../lib/useDoing.ts';
import { paymentWords, refundWords, standingWords, stateWords } from '../../lib/words.ts';
import type { PersonData } from './loadPerson.ts';
import styles from './Person.module.css';

type Join = PersonData['joins'][number];
type Payment = Join['payments'][number];

/** One join with its payments, line by line. `isOnly`: the person has only this join, so its number is not shown. */
export function JoinCard({ join, isOnly }: { join: Join; isOnly: boolean }) {
  return (
    <article className={styles.join}>
      <h3>
        {!isOnly && `Join ${join.number}: `}
        {join.programme}
      </h3>
      <p className={styles.facts}>
        <Tag tone={join.state === 'paid' ? 'good' : 'plain'}>{stateWords[join.state]}</Tag>
        <span>
          began <Time at={join.startedAt} />
        </span>
        <span>{join.origin}</span>
        {join.isErased && <span>erased</span>}
      </p>
      {join.refundAsked && <RefundAsked join={join.number} asked={join.refundAsked} />}
      {join.payments.map((payment) => (
        <PaymentLines key={payment.intent} payment={payment} />
      ))}
      {join.openLines.length > 0 && (
        <div className={styles.payment}>
          <Lines caption="Ordered, not paid" lines={join.openLines} />
        </div>
      )}
      {join.goods.length > 0 && (
        <div className={styles.payment}>
          <h4 className={styles.small}>Goods to send</h4>
          <ul className={styles.list}>
            {join.goods.map(({ name, state }) => (
              <li key={name}>
                <span>{name}</span>
                <span className={styles.small}>{state}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </article>
  );
}

/** The member's refund request, with buttons to accept or decline it. */
function RefundAsked({ join, asked }: { join: number; asked: NonNullable<Join['refundAsked']> }) {
  const { start } = useDoing();
  const isFinance = hasRightsOf(useMe().role, 'finance');
  return (
    <p className={styles.facts}>
      <Tag tone="bad">{`asks for ${displayPrice(asked.amountCents)} back`}</Tag>
      <span>
        since <Time at={asked.at} />
      </span>
      {isFinance && (
        <>
          <Button
            variant="plain"
            onClick={() =>
              start('refund', {
                join: String(join),
                types: asked.types.join(),
                items: asked.items.join(),
              })
            }
          >
            Accept and refund
          </Button>
          <Button variant="plain" onClick={() => start('decline-refund', { join: String(join) })}>
            Decline
          </Button>
        </>
      )}
    </p>
  );
}

function PaymentLines({ payment }: { payment: Payment }) {
  const {
    kind,
    status,
    amountCents,
    refundedCents,
    paidAt,
    card,
    payer,
    standing,
    memberNumber,
    lines,
    refunds,
  } = payment;
  const { start } = useDoing();
  const isFinance = hasRightsOf(useMe().role, 'finance');
  return (
    <div className={styles.payment}>
      <Lines
        caption={
          <>
            <strong>{kind === 'upgrade' ? 'Upgrade' : 'Join'}</strong>, {paymentWords[status]}
            {paidAt && (
              <>
                {' '}
                <Time at={paidAt} />
              </>
            )}
            {card && `, ${card.brand} ending in ${card.last4}`}
            {payer &&
              `, by a pay link: ${[payer.name, payer.email].filter(Boolean).join(', ') || 'payer erased'}`}
          </>
        }
        lines={lines}
        total={amountCents}
        refunded={refundedCents}
      />
      <p className={styles.facts}>
        {memberNumber && (
          <span>
            Member number <strong>{memberNumber}</strong>
          </span>
        )}
        {standing && (
          <Tag tone={standing === 'active' ? 'good' : 'bad'}>membership {standingWords[standing]}</Tag>
        )}
        <span className={styles.small}>{payment.intent}</span>
      </p>
      {isFinance && status === 'duplicate' && refundedCents < amountCents && (
        <Button variant="plain" onClick={() => start('refund-payment', { payment: payment.intent })}>
          Refund this payment
        </Button>
      )}
      {refunds.length > 0 && (
        <ul className={styles.refunds} aria-label="Refunds">
          {refunds.map((refund) => (
            <li key={refund.id}>
              <strong>{displayPrice(refund.amountCents)}</strong> back, {refundWords[refund.status]},{' '}
              <Time at={refund.at} />: {refund.why}
              {refund.refusal && <p>Stripe says: {refund.refusal}</p>}
              {isFinance && refund.isElsewhere && (
                <p>
                  <Button variant="plain" onClick={() => start('assign', { refund: refund.id })}>
                    What was it for?
                  </Button>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Lines({
  caption,
  lines,
  total,
  refunded = 0,
}: {
  caption: ReactNode;
  lines: readonly { name: string; priceCents: number; refundedCents?: number }[];
  total?: number;
  /** This may be more than the sum of the lines, since the lines of some refunds are unknown. */
  refunded?: number;
}) {
  const hasRefunds = refunded > 0;
  return (
    <table className={table.table}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Item</th>
          <th scope="col" className={table.money}>
            Price
          </th>
          {hasRefunds && (
            <th scope="col" className={table.money}>
              Went back
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {lines.map(({ name, priceCents, refundedCents }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no names of their own, and do not move
          <tr key={index}>
            <th scope="row">{name}</th>
            <td className={table.money}>{displayPrice(priceCents)}</td>
            {hasRefunds && (
              <td className={table.money}>{refundedCents ? displayPrice(refundedCents) : ''}</td>
            )}
          </tr>
        ))}
      </tbody>
      {total !== undefined && (
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td className={table.money}>{displayPrice(total)}</td>
            {hasRefunds && <td className={table.money}>{displayPrice(refunded)}</td>}
          </tr>
        </tfoot>
      )}
    </table>
  );
}
