import { useState } from 'react';
import { flushSync } from 'react-dom';
import { messageOf } from '#client/failures.ts';

/** A part of a list. `next` requests the rows that follow; null if there are none. */
export interface Page<Row> {
  rows: Row[];
  next: string | null;
}

/**
 * Loads further rows of a list, after the first page, which the route's loader has loaded. When the first page is loaded again,
 * the added rows are dropped.
 */
export function useMore<Row>(first: Page<Row>, load: (next: string) => Promise<Page<Row>>) {
  const [added, setAdded] = useState({ to: first, rows: [] as Row[], next: first.next });
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const more = added.to === first ? added : { rows: [], next: first.next };
  return {
    rows: [...first.rows, ...more.rows],
    isEnd: more.next === null,
    isBusy,
    fault,
    /** Adds the next page. `onAdded` runs once its rows are rendered. */
    async showMore(onAdded?: () => void) {
      setBusy(true);
      setFault(null);
      try {
        const page = await load(more.next!);
        flushSync(() => setAdded({ to: first, rows: [...more.rows, ...page.rows], next: page.next }));
        onAdded?.();
      } catch (error) {
        setFault(messageOf(error, 'This could not be loaded.'));
      }
      setBusy(false);
    },
  };
}
