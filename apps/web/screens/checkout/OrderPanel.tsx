import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { displayPrice } from '#core/money.ts';
import type { OrderSummary } from '#core/orderSummary.ts';
import { buttonClass } from '#ui/Button.tsx';
import { Icon } from '#ui/icons.tsx';
import { Hint } from '#ui/Text.tsx';
import { useFocusRescue } from '#ui/useFocusRescue.ts';
import { RefundNote } from '../../components/RefundNote.tsx';
import { useSite } from '../../lib/site.ts';
import { ChangeError } from './ChangeError.tsx';
import type { OrderProduct } from './order.ts';
import { useOrderChange } from './orderChange.ts';
import styles from './styles.module.css';

/** The order summary. On wide screens it is a panel next to the form; on phones it opens from a bar at the top. */
export function OrderPanel({
  order,
  refundNote,
  children,
}: {
  order: OrderSummary<OrderProduct>;
  refundNote: string | undefined;
  children?: ReactNode;
}) {
  const { changeOfMind, delivery } = useSite();
  const [open, setOpen] = useState(false);
  const total = displayPrice(order.totalDueTodayCents);
  const heading = useRef<HTMLHeadingElement>(null);
  const lines = order.donations.length + order.storeProducts.length;
  // A pressed button disappears together with its line or product. The focus then moves to the order's heading.
  const focusHeading = useCallback(() => heading.current?.focus({ preventScroll: true }), []);
  useFocusRescue(lines, focusHeading);
  const toggle = useRef<HTMLButtonElement>(null);
  const summary = useRef<HTMLDivElement>(null);
  // On phones the open summary covers the form, so it closes when the user focuses or presses anything outside.
  useEffect(() => {
    if (!open) return;
    const listening = new AbortController();
    const { signal } = listening;
    const leave = ({ target }: Event) => {
      if (!summary.current?.contains(target as Node)) setOpen(false);
    };
    document.addEventListener('focusin', leave, { signal });
    document.addEventListener('pointerdown', leave, { signal });
    // When the card form's iframe takes the focus, the document gets no focus event. Only the window gets a blur event.
    const leaveForFrame = () => document.activeElement instanceof HTMLIFrameElement && setOpen(false);
    window.addEventListener('blur', leaveForFrame, { signal });
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setOpen(false);
      toggle.current?.focus();
    };
    document.addEventListener('keydown', closeByKey, { signal });
    return () => listening.abort();
  }, [open]);
  return (
    <div className={styles.summary} ref={summary}>
      <div className={styles.bar}>
        <button
          ref={toggle}
          type="button"
          className={styles.barButton}
          aria-expanded={open}
          aria-controls="order-summary"
          onClick={() => setOpen(!open)}
        >
          <span>{open ? 'Hide order summary' : 'Show order summary'}</span>
          <Icon name="chevron" size={18} />
        </button>
        <p className={styles.barTotal} data-keep-clear>
          <span>{total}</span> <span className={styles.currency}>USD</span>
        </p>
      </div>
      <aside
        id="order-summary"
        className={styles.panel}
        data-open={open || undefined}
        aria-labelledby="order-heading"
      >
        <div className={styles.panelInner}>
          <h2 id="order-heading" ref={heading} tabIndex={-1}>
            Order summary
          </h2>
          <ul className={styles.lines}>
            {order.membership && (
              <li className={styles.line}>
                <p className={styles.lineName}>{order.membership.name}</p>
                <p className={styles.lineNote}>(once)</p>
                <p className={styles.linePrice}>{displayPrice(order.membership.priceCents)}</p>
              </li>
            )}
            {order.donations.map((line) => (
              <RemovableLine key={line.sessionProductUuid} line={line} kind="removeDonation" />
            ))}
            {order.storeProducts.map((line) => (
              <RemovableLine key={line.sessionProductUuid} line={line} kind="removeProduct" />
            ))}
          </ul>
          <dl className={styles.totals}>
            <div>
              <dt>Subtotal</dt>
              <dd>{displayPrice(order.subtotalCents)}</dd>
            </div>
            <div>
              <dt>Tax</dt>
              <dd>{displayPrice(order.taxCents)}</dd>
            </div>
            <div className={styles.total}>
              <dt>Total Due Today</dt>
              <dd data-keep-clear>
                <span>{total}</span> <span className={styles.currency}>USD</span>
              </dd>
            </div>
          </dl>
          <RefundNote text={refundNote} />
          <RefundNote text={changeOfMind} />
          {order.storeProducts.length > 0 && delivery && <Hint>{delivery}</Hint>}
          {children}
        </div>
      </aside>
    </div>
  );
}

function RemovableLine({ line, kind }: { line: OrderProduct; kind: 'removeDonation' | 'removeProduct' }) {
  const sessionProductUuid = line.sessionProductUuid ?? '';
  const { busy, change, error } = useOrderChange(`line-${sessionProductUuid}`);
  const what = kind === 'removeDonation' ? `${line.name} ${displayPrice(line.priceCents)}` : line.name;
  return (
    <li className={styles.line}>
      <p className={styles.lineName}>{line.name}</p>
      <button
        type="button"
        className={buttonClass({ variant: 'plain', className: styles.remove })}
        aria-label={`Remove ${what}`}
        aria-busy={busy || undefined}
        onClick={() => change({ kind, sessionProductUuid })}
      >
        {busy ? 'Removing…' : 'Remove'}
      </button>
      <p className={styles.linePrice}>{displayPrice(line.priceCents)}</p>
      <ChangeError error={error} />
    </li>
  );
}
