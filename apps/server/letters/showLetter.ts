import type { Mail } from '../providers/mail/client.ts';
import { compose } from './compose.ts';
import type { Deps } from './deps.ts';
import type { DueLetter } from './dueLetters.ts';
import { judgeLetter } from './judgeLetter.ts';
import { readLetter, readUnwritten } from './takeLetter.ts';

/** A letter as it would be sent now. */
export interface ShownLetter {
  /** Null if no email address is known that it could go to. */
  mail: Mail | null;
  /** Whether what it says still holds. If it does not, it is not sent. */
  isHeld: boolean;
}

/**
 * Returns a letter as it would be sent now; null if there is no such letter. With `isSealed`, its links lead nowhere and its code is
 * dots: whoever has them can open the join, or stop its reminders.
 */
export async function showLetter(
  deps: Deps,
  id: string,
  { isSealed = false } = {},
): Promise<ShownLetter | null> {
  const letter = await readLetter(deps, id);
  if (!letter) return null;
  const now = deps.now();
  return {
    mail: compose(isSealed ? sealed(deps) : deps, letter, now),
    isHeld: (await judgeLetter(deps, letter, now)) !== 'withdraw',
  };
}

/** Returns a letter that was not written, as it would be sent now, sealed. Null: no email address is known that it could go to. */
export async function showUnwritten(
  deps: Deps,
  letter: Pick<DueLetter, 'kind' | 'sessionUuid' | 'occasion'>,
): Promise<Mail | null> {
  return compose(sealed(deps), await readUnwritten(deps, letter), deps.now());
}

/** Lets the links of letters lead nowhere, and their codes be dots. */
function sealed(deps: Deps): Deps {
  const address = () => `${deps.config.publicUrl}/pass`;
  return {
    ...deps,
    passes: { ...deps.passes, address, code: () => '••••••' },
    stopLinks: { ...deps.stopLinks, pageAddress: address, oneClickAddress: address },
  };
}
