import type { SettingReader } from './reader.ts';

/** A rate limit: at most `count` events in the last `minutes`. */
export interface Limit {
  count: number;
  minutes: number;
}

/** The default rate limits, each with the setting that changes it. */
const defaults = {
  /** Wrong invite codes from one address. */
  wrongCodesPerAddress: { setting: 'LIMIT_WRONG_CODES_PER_ADDRESS', count: 400, minutes: 10 },
  /** Joins started with one personal invite code from one address. */
  joinsPerCode: { setting: 'LIMIT_JOINS_PER_CODE', count: 30, minutes: 60 },
  /** Joins started from one address: generous, since a whole school may share one. */
  joinsPerAddress: { setting: 'LIMIT_JOINS_PER_ADDRESS', count: 3000, minutes: 60 },
  /** Resumes uploaded from one address. */
  resumesPerAddress: { setting: 'LIMIT_RESUMES_PER_ADDRESS', count: 300, minutes: 60 },
  /** Upload links (QR codes) made for one join. */
  uploadLinksPerSession: { setting: 'LIMIT_UPLOAD_LINKS_PER_SESSION', count: 30, minutes: 60 },
  /** Uploads by one upload link, accepted or not. */
  uploadsPerLink: { setting: 'LIMIT_UPLOADS_PER_LINK', count: 30, minutes: 60 },
  /** Transcripts uploaded for one join in any way, accepted or not. */
  uploadsPerSession: { setting: 'LIMIT_UPLOADS_PER_SESSION', count: 60, minutes: 60 },
  /** Certificates and press releases requested for one join. */
  papersPerSession: { setting: 'LIMIT_PAPERS_PER_SESSION', count: 60, minutes: 60 },
  /** Unsuccessful tries to verify a member number, from one address. */
  wrongNumbersPerAddress: { setting: 'LIMIT_WRONG_NUMBERS_PER_ADDRESS', count: 100, minutes: 10 },
  /** Payment intents opened for one join. */
  intentsPerSession: { setting: 'LIMIT_INTENTS_PER_SESSION', count: 30, minutes: 60 },
  /** Payment intents opened from one address. */
  intentsPerAddress: { setting: 'LIMIT_INTENTS_PER_ADDRESS', count: 3000, minutes: 60 },
  /** Requests from one address for letters with passes, to any mailbox. */
  passLinksPerAddress: { setting: 'LIMIT_PASS_LINKS_PER_ADDRESS', count: 300, minutes: 60 },
  /** Requests for letters with passes to one mailbox. Requests above the limit get the same answer, but no letter is sent. */
  passLinksPerEmail: { setting: 'LIMIT_PASS_LINKS_PER_EMAIL', count: 3, minutes: 60 },
  /** Letters to one mailbox about joins that are neither paid nor proven. Those above the limit are withdrawn. */
  lettersPerMailbox: { setting: 'LIMIT_LETTERS_PER_MAILBOX', count: 8, minutes: 1440 },
  /**
   * How many codes that open a join on a new device are mailed for one join. For joins that began with a checkout link: for one
   * person.
   */
  passCodesPerJoin: { setting: 'LIMIT_PASS_CODES_PER_JOIN', count: 6, minutes: 1440 },
  /** Corrections of the email on the welcome page, for one join. */
  emailCorrectionsPerJoin: { setting: 'LIMIT_EMAIL_CORRECTIONS_PER_JOIN', count: 5, minutes: 1440 },
  /** Requests from one address with reports of blocked content or of faults of our pages. Those above the limit are dropped. */
  reportsPerAddress: { setting: 'LIMIT_REPORTS_PER_ADDRESS', count: 300, minutes: 60 },
  /**
   * Requests from one address to stop reminders: generous, since a mail provider may send them for all its users from one
   * address.
   */
  reminderStopsPerAddress: { setting: 'LIMIT_REMINDER_STOPS_PER_ADDRESS', count: 3000, minutes: 60 },
  /**
   * Calls from one address that sign in at the desk, successful or not: by link, passkey or identity provider. A sign-in may need
   * two.
   */
  deskSignInsPerAddress: { setting: 'LIMIT_DESK_SIGN_INS_PER_ADDRESS', count: 100, minutes: 10 },
  /** Declined cards of one join before the join must wait. */
  cardFailuresPerSession: { setting: 'LIMIT_CARD_FAILURES_PER_SESSION', count: 6, minutes: 10 },
  /** Declined cards of all joins from one address before these joins must wait. */
  cardFailuresPerAddress: { setting: 'LIMIT_CARD_FAILURES_PER_ADDRESS', count: 200, minutes: 60 },
} satisfies Record<string, Limit & { setting: string }>;

export type Limits = Record<keyof typeof defaults, Limit>;

/** Reads the settings LIMIT_…, each a count and a window in minutes, such as 30/60. */
export function readLimits({ get, fault }: SettingReader): Limits {
  const read = ({ setting, count, minutes }: Limit & { setting: string }): Limit => {
    const value = get(setting);
    if (value === undefined) return { count, minutes };
    const match = /^(\d{1,9})\/(\d{1,5})$/.exec(value);
    if (match && Number(match[2]) > 0) return { count: Number(match[1]), minutes: Number(match[2]) };
    fault(`${setting} must be a count and a window in minutes, as ${count}/${minutes}.`);
    return { count, minutes };
  };
  return Object.fromEntries(Object.entries(defaults).map(([name, limit]) => [name, read(limit)])) as Limits;
}
