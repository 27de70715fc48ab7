import type { JoinSessionState } from './joinSession.ts';

/**
 * The reminders of a join that was left behind, and when each may be sent, in hours since the joiner's last activity. A reminder
 * that could not be sent in that time is never sent.
 */
export const reminderHours = {
  'reminder-hour': { from: 1, to: 24 },
  'reminder-days': { from: 48, to: 7 * 24 },
} as const;
export type ReminderKind = keyof typeof reminderHours;
export const reminderKinds = Object.keys(reminderHours) as readonly ReminderKind[];
export const isReminder = (kind: string): kind is ReminderKind => kind in reminderHours;

/** At most this many reminders go to one email within {@link MOST_REMINDERS_DAYS} days, for all joins together. */
export const MOST_REMINDERS = 2;
export const MOST_REMINDERS_DAYS = 30;

/** In hours. While a payment is in progress, the reminder is judged again after this time. */
const WHILE_PAYING_HOURS = 1;
const HOUR_MS = 3_600_000;

/** What decides whether a join's reminder is sent. */
export interface LeftJoin {
  state: JoinSessionState;
  /** When the joiner last did something. */
  lastActivityAt: Date;
  hasAgreedToPolicies: boolean;
  /** The society sends reminders to joiners of this programme. */
  isReminded: boolean;
  /** Somebody with the join's contact or email has paid, or is a member. */
  isMember: boolean;
  /** The same email was given in a join that began later. */
  hasNewerJoin: boolean;
  /** The email's owner has stopped reminders. */
  isStopped: boolean;
  /** Reminders that were sent to the email in the last {@link MOST_REMINDERS_DAYS} days. */
  sentLately: number;
}

/** Returns whether to send a reminder now ('send'), never ('withdraw'), or to judge again at a time. */
export function judgeReminder(kind: ReminderKind, join: LeftJoin, now: Date): 'send' | 'withdraw' | Date {
  const { from, to } = reminderHours[kind];
  const mayBeSent =
    join.isReminded &&
    join.hasAgreedToPolicies &&
    join.state !== 'paid' &&
    !join.isMember &&
    !join.hasNewerJoin &&
    !join.isStopped &&
    join.sentLately < MOST_REMINDERS;
  const since = join.lastActivityAt.getTime();
  if (!mayBeSent || now.getTime() > since + to * HOUR_MS) return 'withdraw';
  if (now.getTime() < since + from * HOUR_MS) return new Date(since + from * HOUR_MS);
  if (join.state === 'paying') return new Date(now.getTime() + WHILE_PAYING_HOURS * HOUR_MS);
  return 'send';
}
