import { useState } from 'react';
import { flushSync } from 'react-dom';
import { messageOf } from '#client/failures.ts';

/** The rows of a list as far as they are loaded. `next` is what asks for those that follow; null if there are none. */
export interface Page<Row> {
  rows: Row[];
  next: string | null;
}

/**
 * Lets a list go on below its first page, which its loader has loaded. When the first page is loaded anew, what was added to an earlier
 * one is forgotten.
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
    /** Adds the next page. `onAdded` runs once its rows are shown. */
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
