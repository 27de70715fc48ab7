import type { JoinSessionState } from './joinSession.ts';
import { countsFor, type Holdings, isMember } from './people.ts';

/**
 * The reminders about an unfinished join. A reminder is sent when at least `from` and at most `to` hours have passed since the
 * joiner's last activity. If it could not be sent in that time, it is never sent.
 */
export const reminderHours = {
  'reminder-hour': { from: 1, to: 24 },
  'reminder-days': { from: 48, to: 7 * 24 },
} as const;
export type ReminderKind = keyof typeof reminderHours;
export const reminderKinds = Object.keys(reminderHours) as readonly ReminderKind[];
export const isReminder = (kind: string): kind is ReminderKind => kind in reminderHours;

/**
 * The maximum number of reminders to one email within {@link MOST_REMINDERS_DAYS} days, counting all joins of the email together.
 */
export const MOST_REMINDERS = 2;
export const MOST_REMINDERS_DAYS = 30;

/** While a payment is in progress, a reminder is postponed by this many hours. */
const WHILE_PAYING_HOURS = 1;
const HOUR_MS = 3_600_000;

/** The facts that decide whether a reminder about a join is sent. */
export interface LeftJoin {
  state: JoinSessionState;
  lastActivityAt: Date;
  hasAgreedToPolicies: boolean;
  /** Whether the society sends reminders to joiners of this programme. */
  isReminded: boolean;
  /** Whether it is proven who the joiner is. */
  isProven: boolean;
  joiner: Holdings | null;
  /** Whether the email belongs to a member in HubSpot. */
  isEmailOfMember: boolean;
  /** The other joins with the same email, typed in their details or as the email for a receipt. */
  others: readonly { isProven: boolean; isPaid: boolean; isNewer: boolean }[];
  /** Whether reminders to the email were stopped. */
  isStopped: boolean;
  /** How many reminders the email got in the last {@link MOST_REMINDERS_DAYS} days. */
  sentLately: number;
}

/** Returns what to do with a reminder: send it now, withdraw it, or judge it again at the returned time. */
export function judgeReminder(kind: ReminderKind, join: LeftJoin, now: Date): 'send' | 'withdraw' | Date {
  const { from, to } = reminderHours[kind];
  const isDone = join.others.some(
    (other) => (other.isPaid || other.isNewer) && countsFor(other, { isProven: join.isProven }),
  );
  const mayBeSent =
    join.isReminded &&
    join.hasAgreedToPolicies &&
    join.state !== 'paid' &&
    !isMember(join.joiner, 'joiner') &&
    !join.isEmailOfMember &&
    !isDone &&
    !join.isStopped &&
    join.sentLately < MOST_REMINDERS;
  const since = join.lastActivityAt.getTime();
  if (!mayBeSent || now.getTime() > since + to * HOUR_MS) return 'withdraw';
  if (now.getTime() < since + from * HOUR_MS) return new Date(since + from * HOUR_MS);
  if (join.state === 'paying') return new Date(now.getTime() + WHILE_PAYING_HOURS * HOUR_MS);
  return 'send';
}
