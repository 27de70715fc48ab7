import { useState } from 'react';
import { messageOf } from './api.ts';

/**
 * What presses of buttons do that call the server: one at a time, told apart by `way` where a screen has several. `busy` is the way
 * that is under way, and `fault` the sentence of the last one that failed (the server's, or `sentence`).
 */
export function useAttempt<Way extends string = string>(sentence: string) {
  const [busy, setBusy] = useState<Way | null>(null);
  const [fault, setFault] = useState<{ way: Way; message: string } | null>(null);

  /** Does nothing while another one is under way. */
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
