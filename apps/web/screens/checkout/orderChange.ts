import { useCallback } from 'react';
import { useFetcher } from 'react-router';
import { screens } from '#core/navigation.ts';

/**
 * `body` is the call's body. In `addDonation` and `addProduct`, `amount` is the price on the screen (cents); a custom donation
 * has only an `amount`, in dollars.
 */
export type OrderChange =
  | { kind: 'addDonation' | 'addProduct'; body: { productUuid: string; amount: number } }
  | { kind: 'addCustomDonation'; body: { amount: number } }
  | { kind: 'removeDonation' | 'removeProduct'; sessionProductUuid: string };

/**
 * Returns the state and the submit function for one control that changes the order. `key` identifies the control. Controls do not
 * wait for each other.
 */
export function useOrderChange(key: string) {
  const fetcher = useFetcher<{ error: string | null }>({ key });
  const { submit, state } = fetcher;
  const busy = state !== 'idle';
  const change = useCallback(
    (order: OrderChange) =>
      submit(order, { method: 'post', action: screens.checkout, encType: 'application/json' }),
    [submit],
  );
  return {
    busy,
    /** Submits a change. Does nothing while this control's previous change is pending. */
    change: (order: OrderChange) => {
      if (!busy) void change(order);
    },
    error: (!busy && fetcher.data?.error) || null,
    /** Whether the control's last change has succeeded. */
    done: !busy && fetcher.data?.error === null,
  };
}
