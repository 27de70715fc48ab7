import { useCallback, useEffect, useRef, useState } from 'react';
import { useNavigate, useRevalidator } from 'react-router';
import type { PaymentIntent } from './order.ts';
import { afterEvent, initialPayment, type PaymentEvent } from './payment.ts';
import { type CardForm, updateTotal, type Ways, workOf } from './paymentWork.ts';

/** Keeps the state of the payment (payment.ts), and does what each stage is for. */
export function usePayment(intent: PaymentIntent | null) {
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  const form = useRef<CardForm | null>(null);
  // Events change the state at once: a second press of Buy Now may come before the first is rendered.
  const latest = useRef(initialPayment);
  const [payment, show] = useState(initialPayment);
  const ways = useRef<Ways>(null!);
  ways.current = { reload: revalidate, goTo: (path) => navigate(path, { replace: true }) };

  const send = useCallback((event: PaymentEvent): void => {
    const before = latest.current;
    const now = afterEvent(before, event);
    if (now === before) return;
    latest.current = now;
    show(now);
    if (now.stage !== before.stage)
      void workOf(now, form.current, ways.current).then((end) => end && send(end));
    if (now.total === 'updating' && (before.total !== 'updating' || now.intent !== before.intent)) {
      const { version } = now.intent!;
      void updateTotal(form.current).then((isFailed) => send({ type: 'totalUpdated', version, isFailed }));
    }
  }, []);

  const clientSecret = intent?.clientSecret;
  const version = intent?.revision ?? intent?.amount;
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
      form.current = mounted;
      send({ type: 'formMounted' });
      return () => {
        form.current = null;
      };
    },
    [send],
  );
  return { payment, send, mount };
}
