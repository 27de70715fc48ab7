import { cleanEmail, cleanText } from '#core/cleanText.ts';
import { contactIdFault } from '#core/csv.ts';
import { invitationStates } from '#core/invitation.ts';
import { normaliseInviteCode } from '#core/inviteCode.ts';
import { parseDollars } from '#core/money.ts';
import { isEmail } from '#core/studentDetails.ts';
import { rejectionReasons } from '#documents/document.ts';
import { expiryFault } from '../server/joining/invitations/importInvitations.ts';
import { isIntentId } from '../server/paying/namedOrder.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { day } from './print.ts';

/** A kind of argument or option. */
export interface Kind {
  /** Returns the value in the form that commands need; null if the text is not of this kind. */
  read(text: string): string | null;
  /** Returns a sentence about a text that is not of this kind. */
  fault?(text: string): string;
}

const matching = (pattern: RegExp): Kind => ({ read: (text) => (pattern.test(text) ? text : null) });
const clean = (text: string) => cleanText(text) || null;

/** Returns the kind of an id that another command prints. */
const idOf = (what: string, printedBy: string): Kind => ({
  read: (text) => (isUuid(text.toLowerCase()) ? text.toLowerCase() : null),
  fault: (text) => `"${text}" is not the id of a ${what}, as npm run operator -- ${printedBy} prints it.`,
});

const contact: Kind = { read: (text) => (contactIdFault(text) === null ? text : null) };

/**
 * The kinds by their names in `usage`. A name in capitals that is not listed here, such as FILE, accepts any text but an empty
 * one.
 */
export const kinds: Readonly<Record<string, Kind>> = {
  JOIN: idOf('join', 'find NAME'),
  LETTER: idOf('letter', 'letters list --all'),
  DOCUMENT: idOf('document', 'documents show JOIN'),
  KEY: { read: (text) => (isUuid(text) ? text : null) },
  CONTACT: contact,
  CONTACT_ID: contact,
  PAYMENT_INTENT: { read: (text) => (isIntentId(text) ? text : null) },
  REFUND: { read: (text) => (isUuid(text) || /^(re|pyr|du|dp)_[A-Za-z0-9_]+$/.test(text) ? text : null) },
  EMAIL: {
    read(text) {
      const email = cleanEmail(text);
      return isEmail(email) ? email : null;
    },
  },
  NAME: { read: clean, fault: () => 'The name is empty.' },
  WHO: { read: (text) => (/[@＠]/.test(text) ? cleanEmail(text) || null : clean(text)) },
  CODE: { read: (text) => normaliseInviteCode(text) || null },
  URL: { read: (text) => (URL.canParse(text) ? text : null) },
  TEXT: { read: (text) => text },
  N: { ...matching(/^[1-9]\d{0,6}$/), fault: (text) => `"${text}" is not a number.` },
  NUMBER: matching(/^[1-9]\d{0,15}$/),
  DAYS: matching(/^[1-9]\d{0,4}$/),
  PRODUCT: matching(/^[1-9]\d{0,8}$/),
  PRODUCTS: {
    read(text) {
      const ids = text.split(',').map((id) => id.trim());
      return ids.every((id) => /^[1-9]\d{0,8}$/.test(id)) ? ids.join(',') : null;
    },
  },
  DATE: {
    read: (text) => (expiryFault(text) === null ? text : null),
    fault: (text) => expiryFault(text)!,
  },
  'YYYY-MM-DD': {
    read: (text) => (isDay(text) ? text : null),
    fault: (text) => `"${text}" is not a day: write it as 2026-11-30.`,
  },
  DOLLARS: {
    read: (text) => (parseDollars(text) === null ? null : text),
    fault: (text) => `"${text}" is not a price in dollars, such as 45 or 45.00.`,
  },
  REASON: { read: (text) => (Object.hasOwn(rejectionReasons, text) ? text : null) },
  STATE: {
    read: (text) => (invitationStates.some((state) => state === text) ? text : null),
    fault: () => `--state is one of: ${invitationStates.join(', ')}.`,
  },
};

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && day(date) === text;
}
