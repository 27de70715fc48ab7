import { useEffect, useState } from 'react';
import { useNavigate, useRevalidator } from 'react-router';
import { BEING_PAID, PAY_LINK_DAYS } from '#core/payLink.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { usePoll } from '#ui/usePoll.ts';
import { CopyableAddress } from '../../components/CopyableAddress.tsx';
import { QrPicture } from '../../components/QrPicture.tsx';
import { call } from '../../lib/api.ts';
import { type QrCode, qrCode } from '../../lib/qrCode.ts';
import { payLink, storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import type { CheckoutDetails } from './order.ts';
import styles from './styles.module.css';

const POLL_INTERVAL_MS = 4_000;
const FAILED = 'We could not create a link. Please try again.';

/**
 * Makes the pay link with which somebody else pays, and shows it. While there is a link, or somebody is paying by it
 * (`isBeingPaid`), the page polls its state, and continues when the order is paid.
 */
export function AskToPay({ details, isBeingPaid }: { details: CheckoutDetails; isBeingPaid: boolean }) {
  const { society } = useSite();
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  const [link, setLink] = useState(() => payLink.recall());
  const { busy, fault, attempt } = useAttempt<'make' | 'end'>(FAILED);
  const uuid = storedSession();
  const asksPolicies = details.hasAgreedToPolicies === false;

  usePoll(uuid !== null && (link !== null || isBeingPaid), POLL_INTERVAL_MS, async (signal) => {
    const now = await call('getPayLink', { params: { uuid: uuid! }, quiet: true, signal }).catch(() => null);
    if (!now || signal.aborted) return false;
    if (now.state === 'paid') {
      payLink.drop();
      await navigate(now.goOn, { replace: true });
      return true;
    }
    if (now.isBeingPaid !== isBeingPaid) await revalidate();
    if (!now.expiresAt && link) {
      payLink.drop();
      setLink(null);
    }
    return false;
  });

  const make = () =>
    attempt('make', async () => {
      const body = { agreeToPolicies: asksPolicies };
      const made = await call('createPayLink', { params: { uuid: uuid! }, body, quiet: true });
      payLink.keep(made);
      setLink(made);
      if (asksPolicies) await revalidate();
    });
  const end = () =>
    attempt('end', async () => {
      await call('endPayLink', { params: { uuid: uuid! }, body: {}, quiet: true });
      payLink.drop();
      setLink(null);
    });

  return (
    <section className={styles.block} aria-labelledby="ask">
      <h2 id="ask">No card of your own?</h2>
      {isBeingPaid && <Note isAnswer>{BEING_PAID}</Note>}
      {link ? (
        <>
          <Shown address={window.location.origin + link.path} />
          <Button variant="quiet" busy={busy === 'end' && 'Ending…'} onClick={end}>
            End this link
          </Button>
        </>
      ) : (
        <>
          <p className={styles.intro}>
            {`A parent, relative or friend can pay with a link that works for ${PAY_LINK_DAYS} days. They see your first name, your last initial and this order, and nothing else.`}
          </p>
          {asksPolicies && (
            <p className={styles.intro}>
              By creating the link you agree to the policies (<a href={society.links.privacy}>privacy</a>,{' '}
              <a href={society.links.refunds}>refunds</a>).
            </p>
          )}
          <Button variant="second" full busy={busy === 'make' && 'One moment…'} onClick={make}>
            Ask someone else to pay
          </Button>
        </>
      )}
      {fault && <Alert isAnswer>{fault.message}</Alert>}
    </section>
  );
}

/** The link, with ways to copy it, to send it, and to scan it with a phone. */
function Shown({ address }: { address: string }) {
  const { society } = useSite();
  const [code, setCode] = useState<QrCode | null>(null);
  useEffect(() => {
    // If the QR code cannot be made, the link's text is enough.
    qrCode(address).then(setCode, () => {});
  }, [address]);
  const subject = `Would you pay for my membership in ${society.name}?`;
  const mail = `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(address)}`;
  return (
    <div className={styles.ask}>
      <p>Send this link to whoever is paying. When they have paid, this page continues by itself.</p>
      <CopyableAddress address={address} label="Copy link" />
      <a className={buttonClass({ variant: 'plain' })} href={mail}>
        Send by email
      </a>
      {code && <QrPicture code={code} label="QR code of the link" />}
    </div>
  );
}
