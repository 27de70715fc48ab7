/** The roles of staff. Each has the rights of those before it. */
export const staffRoles = ['staff', 'finance', 'owner'] as const;
export type StaffRole = (typeof staffRoles)[number];

/** What a role may do, as the end of a sentence: "Finance may …". */
export const roleWords: Record<StaffRole, string> = {
  staff: 'read, decide, correct, send, ship and invite.',
  finance: 'do what staff may, move money and read the ledger.',
  owner: 'do everything, and say who is among the staff.',
};

/** Whether a role has the rights of `least`. */
export function hasRightsOf(role: StaffRole, least: StaffRole): boolean {
  return staffRoles.indexOf(role) >= staffRoles.indexOf(least);
}

/** The desk's calls whose names do not describe well what staff do, with the words that the pages use. */
const calledOtherwise: Record<string, string> = {
  enter: 'Sign in by link',
  enterByProvider: 'Sign in by identity provider',
  makeStaffLink: 'Make sign-in link',
  setStaffRole: 'Change role',
  endStaffAccess: 'End access',
  shipGoods: 'Mark as sent',
  unshipGoods: 'Take back a mark as sent',
  reopenTranscripts: 'Take back a decision',
  remindOfProof: 'Remind of overdue proof',
  retryAtHubspot: 'Send to HubSpot again',
  joinPersons: 'Say they are one person',
  keepApart: 'Say they are two',
  settleJoin: 'Settle',
  sendJoinLink: 'Send link to the join',
  getCertificate: 'Download certificate',
  getPeopleFile: 'Download people',
  getPackingList: 'Download packing list',
  getNumbersFile: 'Download numbers',
  getLedgerFile: 'Download ledger',
  getEventsFile: 'Download what staff did',
  getInvitationsFile: 'Download invitations',
  getRefusedLines: 'Download refused lines',
  getMadeCodes: 'Download codes',
  getTranscriptsFile: 'Download transcripts list',
};

/** Returns the name of a desk call in words: "Refund payment". */
export function callWords(name: string): string {
  const called = calledOtherwise[name];
  if (called) return called;
  const words = name.replace(/^get/, 'read').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** How long a sign-in link is valid. */
export const LINK_HOURS = 24;
/** A session expires after this many hours without use, and in any case {@link SESSION_HOURS} after the sign-in. */
export const SESSION_IDLE_HOURS = 8;
export const SESSION_HOURS = 24;
/** How long a passkey challenge is valid. */
export const CHALLENGE_MINUTES = 5;

/** How long (s) staff can undo a decision on a transcript. Its letter is held back for this time. */
export const UNDO_SECONDS = 60;

/** After staff have reminded a member of an overdue proof, the member is not reminded again for this many days. */
export const REMIND_AGAIN_DAYS = 7;

/** The maximum number of characters of a note that staff write about a person. */
export const NOTE_MAX_LENGTH = 2_000;

/** Why an account of the identity provider cannot sign in. The URL of the sign-in page has only the key. */
export const accountRefusals = {
  unknown:
    'This account does not belong to anybody here. Open the sign-in link that you were given, and continue with the account from there.',
  taken: 'This account belongs to somebody else here.',
  late: 'The sign-in took too long, or was begun in another browser. Please try again.',
  cancelled: 'The sign-in was cancelled. Please try again.',
  failed:
    'The sign-in did not work. Please try again. If it goes on, ask whoever runs the server: its log has the reason.',
  link: 'This link was used already, or has expired. Ask for a new one.',
} as const;
export type AccountRefusal = keyof typeof accountRefusals;
