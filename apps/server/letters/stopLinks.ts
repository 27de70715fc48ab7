import { createHmac, timingSafeEqual } from 'node:crypto';
import { stopRemindersPath } from '#core/navigation.ts';
import type { Config } from '../platform/config/config.ts';
import { Refusal } from '../platform/http/refusal.ts';

/** The links in a reminder that stop reminders to the recipient's email. They do not expire, and do not contain the email. */
export interface StopLinks {
  /** Returns the keyed hash of an email, which is stored when reminders to the email are stopped. */
  hash(email: string): Buffer;
  /**
   * Returns the address of the page where the recipient confirms. Opening the page changes nothing, because mail scanners follow
   * links.
   */
  pageAddress(email: string): string;
  /** Returns the address to which mail clients send a POST when their own unsubscribe button is clicked (RFC 8058). */
  oneClickAddress(email: string): string;
  /** Returns the hash of the email for which a link's token was made. Throws a {@link Refusal} (403) if the token is not ours. */
  read(token: string): Buffer;
}

export const STOP_LINK_INVALID =
  'This link is incomplete. Please open it exactly as it was sent, or write to us and we will stop the reminders for you.';
/** The path for one-click unsubscribing. A POST stops the reminders; a GET, which a browser sends, is redirected to the page. */
export const ONE_CLICK_PATH = '/api/public/unsubscribe';

const HASH_BYTES = 16;

/**
 * Returns the functions that make and read the links in reminders. `secret` is stored in the database and never changes.
 * Therefore old links, and the hashes of emails that get no reminders, stay valid when LINK_SECRET changes.
 */
export function stopLinks(
  secret: string,
  { publicUrl, apiUrl }: Pick<Config, 'publicUrl' | 'apiUrl'>,
): StopLinks {
  const keyed = (purpose: string, bytes: string | Buffer) =>
    createHmac('sha256', secret).update(`${purpose}\n`).update(bytes).digest().subarray(0, HASH_BYTES);
  const hash = (email: string) => keyed('email', email.trim().toLowerCase());
  const token = (email: string) =>
    Buffer.concat([hash(email), keyed('link', hash(email))]).toString('base64url');
  return {
    hash,
    pageAddress: (email) => `${publicUrl}${stopRemindersPath(token(email))}`,
    oneClickAddress: (email) => `${apiUrl || publicUrl}${ONE_CLICK_PATH}/${token(email)}`,
    read(given) {
      const bytes = Buffer.from(given, 'base64url');
      const [named, proof] = [bytes.subarray(0, HASH_BYTES), bytes.subarray(HASH_BYTES)];
      const isOurs =
        bytes.length === 2 * HASH_BYTES &&
        bytes.toString('base64url') === given &&
        timingSafeEqual(proof, keyed('link', named));
      if (!isOurs) throw new Refusal(403, STOP_LINK_INVALID);
      return named;
    },
  };
}
