import { mailboxOf } from '#core/mailbox.ts';
import type { Deps } from './deps.ts';

/** Returns the key by which letters to an email are counted: a keyed hash of its mailbox. */
export function mailboxKey(passes: Deps['passes'], email: string): string {
  return passes.hash('email', mailboxOf(email)).toString('base64url');
}
