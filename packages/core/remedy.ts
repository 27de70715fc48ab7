import type { MembershipType } from './product.ts';

/** Gives back what a join holds of these types, and donations and store items: all, or those with these product ids. */
export interface GiveBack {
  do: 'give back';
  uuid: string;
  types: readonly MembershipType[];
  items: 'all' | readonly number[];
  /** Whether the processing fee is kept. */
  isIneligible: boolean;
  /** Whether it is better looked at first. */
  isTrial: boolean;
}

/** What staff can do about something, as plain data: each front door offers it in its own way. */
export type Remedy =
  | GiveBack
  /** Gives back all that is left of a payment. */
  | { do: 'refund payment'; intentId: string }
  /** No call of ours gives back that alone. */
  | { do: "refund in Stripe's dashboard" }
  | { do: 'assign refund'; refund: string }
  /** `subject` is a payment or a join. */
  | { do: 'settle'; subject: string }
  | { do: 'settle missing' | 'reconcile' | 'doctor' | 'set up' | 'migrate' }
  | { do: 'reject finally'; uuid: string; reason: string }
  /** Both are paid by likely the same person. */
  | { do: 'merge or keep apart'; uuid: string; other: string }
  | { do: 'print certificate' | 'read story'; uuid: string }
  | {
      do: 'look at unknown documents' | 'look at reports' | 'set document key';
    }
  /** `uuid` null: all that HubSpot has refused. */
  | { do: 'retry at HubSpot'; uuid: string | null }
  | { do: 'look at what HubSpot refuses' }
  | { do: 'move to HubSpot account'; account: string };

/** Returns the remedy that gives back these types of a join, and no items unless they are named. */
export function giveBack(
  uuid: string,
  types: readonly MembershipType[],
  {
    items = [],
    isIneligible = false,
    isTrial = false,
  }: Partial<Omit<GiveBack, 'do' | 'uuid' | 'types'>> = {},
): GiveBack {
  return { do: 'give back', uuid, types, items, isIneligible, isTrial };
}

/** Returns the remedy that gives back all of a join. */
export function giveAllBack(uuid: string): GiveBack {
  return giveBack(uuid, ['membership', 'membership_upgrade'], { items: 'all' });
}
