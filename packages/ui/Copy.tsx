import { useId, useState } from 'react';
import { inputClass } from './Field.tsx';
import { Hint } from './Text.tsx';

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

/** Shown next to a text that could not be copied and was selected instead. */
export const copyByHand = {
  address: 'Please copy the address by hand: it is selected.',
  code: 'Please copy the code by hand: it is selected.',
  text: 'Please copy the text by hand: it is selected.',
} as const;

/** A ref that selects the whole text of a field when the field appears. */
export function selectText(field: HTMLInputElement | HTMLTextAreaElement | null): void {
  field?.focus();
  field?.select();
}

/** A field with its text selected, for a text that could not be copied. `what` chooses the sentence that names the text. */
export function CopyByHand({ text, what }: { text: string; what: keyof typeof copyByHand }) {
  const id = useId();
  return (
    <div>
      <Hint>
        <label htmlFor={id}>{copyByHand[what]}</label>
      </Hint>
      <input ref={selectText} id={id} className={inputClass} type="text" readOnly value={text} />
    </div>
  );
}
