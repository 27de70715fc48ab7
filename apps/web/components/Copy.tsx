import { useId, useState } from 'react';
import styles from './ui.module.css';

type Outcome = 'copied' | 'failed' | null;

/**
 * Copies texts to the clipboard. `copy` returns whether that succeeded, and `outcome` is the last result. In-app browsers, such as
 * those of mail apps, may have no clipboard, or refuse to write to it.
 */
export function useCopy() {
  const [outcome, setOutcome] = useState<Outcome>(null);
  async function copy(text: string): Promise<boolean> {
    setOutcome(null);
    const isCopied = await write(text);
    setOutcome(isCopied ? 'copied' : 'failed');
    return isCopied;
  }
  return { outcome, copy, clear: () => setOutcome(null) };
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The sentence for a text that could not be copied, and was selected instead. */
export const copyByHand = (noun: string) => `Please copy the ${noun} by hand: it is selected.`;

/** A ref that selects the whole text of a field when the field appears. */
export function selectText(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  field?.focus();
  field?.select();
}

/** A field whose text is selected, for a text that could not be copied. `noun` says what the text is. */
export function CopyByHand({ text, noun }: { text: string; noun: string }) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label className={styles.hint} htmlFor={id}>
        {copyByHand(noun)}
      </label>
      <input ref={selectText} id={id} className={styles.input} type="text" readOnly value={text} />
    </div>
  );
}
