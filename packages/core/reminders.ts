import type { JoinSessionState } from './joinSession.ts';

/**
 * The reminders of a join that was left behind, and when each may be sent: counted from what the joiner did last (hours). What
 * could not be sent in that time is not sent later.
 */
export const reminderHours = {
  'reminder-hour': { from: 1, to: 24 },
  'reminder-days': { from: 48, to: 7 * 24 },
} as const;
export type ReminderKind = keyof typeof reminderHours;
export const reminderKinds = Object.keys(reminderHours) as readonly ReminderKind[];
export const isReminder = (kind: string): kind is ReminderKind => kind in reminderHours;

/** So many reminders go to one address in so many days, whatever joins it is given in. */
export const MOST_REMINDERS = 2;
export const MOST_REMINDERS_DAYS = 30;

/** While a payment is under way it is looked at again so much later (hours). */
const WHILE_PAYING_HOURS = 1;
const HOUR_MS = 3_600_000;

/** A join that somebody may have left behind, as its reminder finds it. */
export interface LeftJoin {
  state: JoinSessionState;
  /** When the joiner last did something. */
  lastActivityAt: Date;
  hasAgreedToPolicies: boolean;
  /** The society reminds those who join its programme. */
  isReminded: boolean;
  /** Of its contact or its email: somebody has paid, or is a member. */
  isMember: boolean;
  /** The same email was given in a join that began later. */
  hasNewerJoin: boolean;
  /** Whose email it is wants no reminders. */
  isStopped: boolean;
  /** Reminders that were sent to the email in the last {@link MOST_REMINDERS_DAYS} days. */
  sentLately: number;
}

/** Whether a reminder is sent now, never, or not before a moment. */
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
