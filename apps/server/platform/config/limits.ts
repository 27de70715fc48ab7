import type { SettingReader } from './reader.ts';

/** Limits on careless and hostile use, each a count in a window (minutes). */
export interface Limits {
  /** Wrong invite codes from one address. */
  wrongCodesPerAddress: Limit;
  /** Joins started with one personal invite code. */
  joinsPerCode: Limit;
  /** Joins started from one address: generous, since a whole school may share one. */
  joinsPerAddress: Limit;
  /** Resumes sent from one address. */
  resumesPerAddress: Limit;
  /** Upload links (QR codes) that one join makes. */
  uploadLinksPerSession: Limit;
  /** Uploads by one such link, accepted or not. */
  uploadsPerLink: Limit;
  /** Transcripts sent for one join by any way, accepted or not. */
  uploadsPerSession: Limit;
  /** Certificates and press releases that one join asks for. */
  papersPerSession: Limit;
  /** Member numbers that cannot be verified, from one address. */
  wrongNumbersPerAddress: Limit;
  /** Payment intents opened for one join. */
  intentsPerSession: Limit;
  /** Payment intents opened from one address. */
  intentsPerAddress: Limit;
  /** Requests from one address for the links of joins. */
  passLinksPerAddress: Limit;
  /** The same for one email; further ones are answered alike and dropped. */
  passLinksPerEmail: Limit;
  /** Codes mailed for one join, to open it on a new device. */
  passCodesPerJoin: Limit;
  /** Browser reports of blocked content from one address; further ones are dropped. */
  reportsPerAddress: Limit;
  /** Mail providers click for all their people, from few addresses. */
  reminderStopsPerAddress: Limit;
  /** Declined cards of one join before it must wait. */
  cardFailuresPerSession: Limit;
  /** Declined cards of all joins from one address before they must wait. */
  cardFailuresPerAddress: Limit;
}
export interface Limit {
  count: number;
  minutes: number;
}

const defaultLimits: Record<keyof Limits, { setting: string; limit: Limit }> = {
  wrongCodesPerAddress: { setting: 'LIMIT_WRONG_CODES_PER_ADDRESS', limit: { count: 400, minutes: 10 } },
  joinsPerCode: { setting: 'LIMIT_JOINS_PER_CODE', limit: { count: 30, minutes: 60 } },
  joinsPerAddress: { setting: 'LIMIT_JOINS_PER_ADDRESS', limit: { count: 3000, minutes: 60 } },
  resumesPerAddress: { setting: 'LIMIT_RESUMES_PER_ADDRESS', limit: { count: 300, minutes: 60 } },
  uploadLinksPerSession: { setting: 'LIMIT_UPLOAD_LINKS_PER_SESSION', limit: { count: 30, minutes: 60 } },
  uploadsPerLink: { setting: 'LIMIT_UPLOADS_PER_LINK', limit: { count: 30, minutes: 60 } },
  uploadsPerSession: { setting: 'LIMIT_UPLOADS_PER_SESSION', limit: { count: 60, minutes: 60 } },
  papersPerSession: { setting: 'LIMIT_PAPERS_PER_SESSION', limit: { count: 60, minutes: 60 } },
  wrongNumbersPerAddress: {
    setting: 'LIMIT_WRONG_NUMBERS_PER_ADDRESS',
    limit: { count: 100, minutes: 10 },
  },
  intentsPerSession: { setting: 'LIMIT_INTENTS_PER_SESSION', limit: { count: 30, minutes: 60 } },
  intentsPerAddress: { setting: 'LIMIT_INTENTS_PER_ADDRESS', limit: { count: 3000, minutes: 60 } },
  passLinksPerAddress: { setting: 'LIMIT_PASS_LINKS_PER_ADDRESS', limit: { count: 300, minutes: 60 } },
  passLinksPerEmail: { setting: 'LIMIT_PASS_LINKS_PER_EMAIL', limit: { count: 3, minutes: 60 } },
  passCodesPerJoin: { setting: 'LIMIT_PASS_CODES_PER_JOIN', limit: { count: 6, minutes: 1440 } },
  reportsPerAddress: { setting: 'LIMIT_REPORTS_PER_ADDRESS', limit: { count: 300, minutes: 60 } },
  reminderStopsPerAddress: {
    setting: 'LIMIT_REMINDER_STOPS_PER_ADDRESS',
    limit: { count: 3000, minutes: 60 },
  },
  cardFailuresPerSession: { setting: 'LIMIT_CARD_FAILURES_PER_SESSION', limit: { count: 6, minutes: 10 } },
  cardFailuresPerAddress: { setting: 'LIMIT_CARD_FAILURES_PER_ADDRESS', limit: { count: 200, minutes: 60 } },
};

/** LIMIT_…: a count and a window in minutes, as 30/60. */
export function readLimits({ get, fault }: SettingReader): Limits {
  const read = ({ setting, limit }: { setting: string; limit: Limit }): Limit => {
    const value = get(setting);
    if (value === undefined) return limit;
    const match = /^(\d{1,9})\/(\d{1,5})$/.exec(value);
    if (match && Number(match[2]) > 0) return { count: Number(match[1]), minutes: Number(match[2]) };
    fault(`${setting} must be a count and a window in minutes, as ${limit.count}/${limit.minutes}.`);
    return limit;
  };
  return Object.fromEntries(
    Object.entries(defaultLimits).map(([name, limit]) => [name, read(limit)]),
  ) as Record<keyof Limits, Limit>;
}
