import { cleanText } from './cleanText.ts';
import { inviteCodeError, normaliseInviteCode } from './inviteCode.ts';

/**
 * What a text that somebody wants to have checked is: an invite code, a link on our host, a link on another host, or none of
 * these.
 */
export type CheckedText =
  | { is: 'code'; code: string }
  | { is: 'ours'; url: URL }
  | { is: 'elsewhere'; url: URL }
  | { is: 'unread' };

/**
 * Parses a typed code or a pasted link, with or without `https://`. A code may contain spaces and hyphens, because some are
 * printed that way.
 */
export function readChecked(text: string, publicUrl: string): CheckedText {
  const given = cleanText(text).replace(/^<|>$/g, '');
  // An email is not a link, though a browser would open its domain.
  if (/^[^@/:?#\s]+@[^@/:?#\s]+$/.test(given)) return { is: 'unread' };
  if (/[./]/.test(given)) {
    const address = /^[a-z][a-z0-9+.-]*:/i.test(given) ? given : `https://${given}`;
    if (!URL.canParse(address)) return { is: 'unread' };
    const url = new URL(address);
    if (!/^https?:$/.test(url.protocol) || url.hostname === '') return { is: 'unread' };
    // A URL with a user name before an @ only looks like our address.
    const isOurs = url.host === new URL(publicUrl).host && url.username === '';
    return isOurs ? { is: 'ours', url } : { is: 'elsewhere', url };
  }
  const code = given.replace(/[\s\p{Pd}]/gu, '');
  return inviteCodeError(code) === null ? { is: 'code', code: normaliseInviteCode(code) } : { is: 'unread' };
}
