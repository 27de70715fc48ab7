import { useState } from 'react';
import { messageOf } from '#client/failures.ts';

/**
 * Runs the server calls of a screen's buttons, one at a time. `way` is a button's name. `busy` is the name of the button whose call
 * is running. `fault` has the name of the button whose last call failed, and the server's message or, if there is none, `sentence`.
 */
export function useAttempt<Way extends string = string>(sentence: string) {
  const [busy, setBusy] = useState<Way | null>(null);
  const [fault, setFault] = useState<{ way: Way; message: string } | null>(null);

  /** Runs a button's call. Does nothing while another call is running. */
  async function attempt(way: Way, work: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(way);
    setFault(null);
    try {
      await work();
    } catch (error) {
      setFault({ way, message: messageOf(error, sentence) });
    }
    setBusy(null);
  }

  return { busy, fault, attempt, fail: (way: Way, message: string) => setFault({ way, message }) };
}
