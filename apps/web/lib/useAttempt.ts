import { useState } from 'react';
import { messageOf } from './api.ts';

/**
 * Runs the server calls of a screen's buttons, one at a time. `way` identifies the button where a screen has several. `busy`: the
 * button whose call is running; `fault`: the button whose last call failed, with the server's sentence or else `sentence`.
 */
export function useAttempt<Way extends string = string>(sentence: string) {
  const [busy, setBusy] = useState<Way | null>(null);
  const [fault, setFault] = useState<{ way: Way; message: string } | null>(null);

  /** Does nothing while another attempt is running. */
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

  return { busy, fault, attempt };
}
