import type { Mail } from '../providers/mail/client.ts';
import { compose } from './compose.ts';
import type { Deps } from './deps.ts';
import type { DueLetter } from './dueLetters.ts';
import { judgeLetter } from './judgeLetter.ts';
import { readLetter, readUnwritten } from './takeLetter.ts';

/** A letter as it would be sent now. */
export interface ShownLetter {
  /** Null if no email address is known to which it could be sent. */
  mail: Mail | null;
  /** Whether the letter's statements are still true. If not, it is not sent. */
  isHeld: boolean;
}

/**
 * Returns a letter as it would be sent now; null if there is no such letter. With `isSealed`, its links do not work and its code
 * is shown as dots, because anybody with the real ones could open the join or stop its reminders.
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

/**
 * Returns the mail of a letter that does not exist yet, as it would be sent now, without working links or code. Null if no email
 * address is known to which it could be sent.
 */
export async function showUnwritten(
  deps: Deps,
  letter: Pick<DueLetter, 'kind' | 'sessionUuid' | 'occasion'>,
): Promise<Mail | null> {
  return compose(sealed(deps), await readUnwritten(deps, letter), deps.now());
}

/** Replaces the links in letters by links that do not work, and codes by dots. */
function sealed(deps: Deps): Deps {
  const address = () => `${deps.config.publicUrl}/pass`;
  return {
    ...deps,
    passes: { ...deps.passes, address, code: () => '••••••' },
    stopLinks: { ...deps.stopLinks, pageAddress: address, oneClickAddress: address },
  };
}
