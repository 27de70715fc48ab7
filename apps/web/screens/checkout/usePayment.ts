import { useCallback, useEffect, useRef, useState } from 'react';
import { useNavigate, useRevalidator } from 'react-router';
import { type PaymentIntent, versionOf } from './order.ts';
import { afterEvent, initialPayment, type Payment, type PaymentEvent } from './payment.ts';
import { type CardForm, type Forms, updateTotal, type Ways, workOf } from './paymentWork.ts';

/** Reports to the wallet's sheet that nothing was paid, and why. */
export type RefuseSheet = (why: { reason: 'fail' | 'invalid_billing_address'; message?: string }) => void;

/**
 * Whether the wallet's sheet waits until the payment is sent to the provider. The provider itself then reports the outcome to the
 * sheet.
 */
const keepsSheet = ({ stage, form }: Payment) =>
  form === 'wallet' && (stage === 'checking' || stage === 'beginning');

/** Keeps the state of the payment (payment.ts), and does the work of each stage. */
export function usePayment(intent: PaymentIntent | null) {
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  const forms = useRef<Forms>({ card: null, wallet: null });
  const refuseSheet = useRef<RefuseSheet>(null);
  // Events change this state immediately, because Buy Now may be pressed a second time before the first press is rendered.
  const latest = useRef(initialPayment);
  const [payment, show] = useState(initialPayment);
  const ways = useRef<Ways>(null!);
  ways.current = { reload: revalidate, goTo: (path) => navigate(path, { replace: true }) };

  /** Returns the state after the event. */
  const send = useCallback((event: PaymentEvent): Payment => {
    const before = latest.current;
    const now = afterEvent(before, event);
    if (now === before) return now;
    latest.current = now;
    show(now);
    if (keepsSheet(before) && !keepsSheet(now) && now.stage !== 'confirming')
      refuseSheet.current?.({ reason: 'fail', ...(now.answer && { message: now.answer.text }) });
    if (now.stage !== before.stage)
      void workOf(now, forms.current, ways.current).then((end) => end && send(end));
    if (now.total === 'updating' && (before.total !== 'updating' || now.intent !== before.intent)) {
      const { version } = now.intent!;
      void updateTotal(forms.current.card).then((isFailed) =>
        send({ type: 'totalUpdated', version, isFailed }),
      );
    }
    return now;
  }, []);

  /**
   * Begins the payment that the sheet shows, or refuses it. `fault`: a sentence if cards with this billing address are not
   * accepted.
   */
  const agree = useCallback(
    (fault: string | null, refuse: RefuseSheet): void => {
      const { attempt } = latest.current;
      const now = send({ type: 'sheetAgreed', fault });
      if (now.attempt !== attempt) refuseSheet.current = refuse;
      else
        refuse({
          reason: fault === null ? 'fail' : 'invalid_billing_address',
          ...(now.answer && { message: now.answer.text }),
        });
    },
    [send],
  );

  const clientSecret = intent?.clientSecret;
  const version = intent ? versionOf(intent) : undefined;
  useEffect(() => {
    if (clientSecret !== undefined && version !== undefined)
      send({ type: 'intentLoaded', clientSecret, version });
  }, [clientSecret, version, send]);

  useEffect(() => {
    const shown = (event: PageTransitionEvent) => {
      if (!event.persisted) return;
      send({ type: 'restored' });
      void ways.current.reload();
    };
    window.addEventListener('pageshow', shown);
    return () => window.removeEventListener('pageshow', shown);
  }, [send]);

  const mount = useCallback(
    (mounted: CardForm) => {
      forms.current.card = mounted;
      send({ type: 'formMounted' });
      return () => {
        forms.current.card = null;
      };
    },
    [send],
  );
  const mountWallet = useCallback((mounted: CardForm) => {
    forms.current.wallet = mounted;
    return () => {
      forms.current.wallet = null;
    };
  }, []);
  return { payment, send, agree, mount, mountWallet };
}
