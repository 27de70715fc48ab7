import type { MembershipType } from './product.ts';

/**
 * Refunds the memberships of these types that a join holds, and donations and store items: all of them, or those with these
 * product ids.
 */
export interface GiveBack {
  do: 'give back';
  uuid: string;
  types: readonly MembershipType[];
  items: 'all' | readonly number[];
  /** Whether the processing fee is kept. */
  isIneligible: boolean;
  /** Whether staff should try it first with `--dry-run`. */
  isTrial: boolean;
}

/** What staff can do about a problem, as plain data. The desk and the operator's commands each present it in their own way. */
export type Remedy =
  | GiveBack
  /** Refunds all that is left of a payment. */
  | { do: 'refund payment'; intentId: string }
  /** Induct has no call that refunds only this amount. */
  | { do: "refund in Stripe's dashboard" }
  | { do: 'assign refund'; refund: string }
  /** `subject` is a payment or a join. */
  | { do: 'settle'; subject: string }
  | { do: 'settle missing' | 'reconcile' | 'doctor' | 'set up' | 'migrate' }
  | { do: 'reject finally'; uuid: string; reason: string }
  /** The joins of two persons who are likely the same were both paid. */
  | { do: 'merge or keep apart'; uuid: string; other: string }
  | { do: 'print certificate' | 'read story'; uuid: string }
  | {
      do: 'look at unknown documents' | 'look at reports' | 'set document key';
    }
  /** `uuid` null: everything that HubSpot has refused. */
  | { do: 'retry at HubSpot'; uuid: string | null }
  | { do: 'look at what HubSpot refuses' }
  | { do: 'move to HubSpot account'; account: string };

/** Returns the remedy that refunds memberships of these types of a join, and no items unless `items` names them. */
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

/** Returns the remedy that refunds everything that a join bought. */
export function giveAllBack(uuid: string): GiveBack {
  return giveBack(uuid, ['membership', 'membership_upgrade'], { items: 'all' });
}
