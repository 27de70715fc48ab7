import { useState } from 'react';
import type { Answered } from '#contract/schemas.ts';
import { dayInWords, daysLater } from '#core/day.ts';
import { displayPrice } from '#core/money.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { call } from '../../lib/api.ts';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import styles from './styles.module.css';

export type RefundRequest = Answered<'getRefundRequest'>;

const FAILED = 'We could not send your request. Please try again.';

/**
 * The section where a member requests a refund: shows exactly what would be refunded, what is kept and which memberships end, and
 * asks for confirmation. `loaded` is the server's last answer. Shows nothing if there is no request and none can be made.
 */
export function AskRefund({ loaded }: { loaded: RefundRequest }) {
  const { society } = useSite();
  const [shown, setShown] = useState(loaded);
  const [isOpen, setOpen] = useState(false);
  const { busy, fault, attempt } = useAttempt<'ask'>(FAILED);
  const uuid = storedSession();
  const { request, whyNot, total } = shown;
  if (!uuid || (!request && whyNot !== null)) return null;

  const look = async () => setShown(await call('getRefundRequest', { params: { uuid }, quiet: true }));
  const ask = () =>
    attempt('ask', async () => {
      try {
        setShown(await call('requestRefund', { params: { uuid }, body: { total }, quiet: true }));
        setOpen(false);
      } catch (error) {
        // The amounts may have changed, so they are loaded again.
        await look().catch(() => {});
        throw error;
      }
    });

  return (
    <section className={`${styles.section} ${styles.screenOnly}`} aria-labelledby="refund">
      <h2 id="refund">Changed your mind?</h2>
      {request?.declined && (
        <Note isAnswer={shown !== loaded}>
          {`You asked for a refund of ${displayPrice(request.amount)}, and we could not give it: ${request.declined.sentence}`}
        </Note>
      )}
      {request && !request.declined && (
        <Note isAnswer={shown !== loaded}>
          {`You asked for a refund of ${displayPrice(request.amount)} on ${dayInWords(request.at)}. We will answer by email by ${dayInWords(daysLater(request.at, shown.answerDays))}.`}
        </Note>
      )}
      {!request && !isOpen && (
        <>
          <p className={styles.intro}>{`You can ask for a refund until ${dayInWords(shown.until)}.`}</p>
          <Button variant="second" onClick={() => setOpen(true)}>
            Ask for a refund
          </Button>
        </>
      )}
      {!request && isOpen && (
        <div className={styles.told}>
          <dl className={styles.payment}>
            {shown.lines.map(({ name, amount }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two lines may have one name and one amount
              <div key={index}>
                <dt>{`Refunded: ${name}`}</dt>
                <dd>{displayPrice(amount)}</dd>
              </div>
            ))}
            {shown.kept.map(({ name, amount }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two lines may have one name and one amount
              <div key={index}>
                <dt>{`Not refunded: ${name}`}</dt>
                <dd>{displayPrice(amount)}</dd>
              </div>
            ))}
            <div className={styles.paid}>
              <dt>Total refund, to the card that was charged</dt>
              <dd>{displayPrice(total)}</dd>
            </div>
          </dl>
          {shown.kept.length > 0 && (
            <p className={styles.intro}>
              What is not refunded is excluded by the <a href={society.links.refunds}>refund terms</a>, or has
              already shipped.
            </p>
          )}
          <p className={styles.intro}>
            {`${shown.ends.length > 0 ? `A refund ends your ${shown.ends.join(' and ')}. ` : ''}We will answer by email within ${shown.answerDays} days. Until then, nothing changes.`}
          </p>
          {fault && <Alert isAnswer>{fault.message}</Alert>}
          <Button busy={busy !== null && 'Asking…'} onClick={() => void ask()}>
            {`Yes, request a refund of ${displayPrice(total)}`}
          </Button>
          <Button variant="second" disabled={busy !== null} onClick={() => setOpen(false)}>
            Keep my membership
          </Button>
        </div>
      )}
    </section>
  );
}
