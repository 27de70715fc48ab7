import { useCallback } from 'react';
import { useFetcher } from 'react-router';
import { screens } from '#core/navigation.ts';

/** A change of the order at Checkout. */
export type OrderChange =
  | { kind: 'addDonation' | 'addProduct'; productUuid: string }
  | { kind: 'addCustomDonation'; amount: number }
  | { kind: 'removeDonation' | 'removeProduct'; sessionProductUuid: string };

/** Submits changes of the order for one control; different controls do not wait for each other. */
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
    /** Does nothing while this control's last change is pending. */
    change: (order: OrderChange) => {
      if (!busy) void change(order);
    },
    error: (!busy && fetcher.data?.error) || null,
    /** The last change succeeded. */
    done: !busy && fetcher.data?.error === null,
  };
}
