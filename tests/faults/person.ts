import type { KillPoint } from './operations.ts';
import type { Join } from './plan.ts';
import type { World } from './world.ts';

/** What somebody saw when they pressed Buy Now or Upgrade Now. */
export interface Seen {
  kind: 'join' | 'upgrade';
  /** Total Due Today. */
  cents: number;
  /** The membership or upgrade. */
  productId: number;
}

/** One person and all that they remember. */
export interface Person {
  join: Join;
  uuid: string | null;
  seen: Seen[];
  /** What our servers answered that they never should, in words. */
  complaints: string[];
  /** How it ended, as they would tell it. */
  ended: string;
  /** The point at which a server was to be killed and that was not come by. */
  missed: KillPoint | null;
  /** Checkout as they last saw it. */
  screen: Screen | null;
  /** An item that was returned, by Stripe's id of its refund. */
  returned: { refundId: string; productId: number; cents: number } | null;
  /** The payment that the bank holds, from when the person paid until it is settled. */
  held: { intentId: string; settling: Promise<void> | null } | null;
  /** How many changes of their order's intent hung. */
  hangs: number;
  /** What is to happen between Buy Now and the card's confirmation. */
  beforeCard: (() => Promise<unknown>) | null;
  /** They still mean to pay. */
  isWaiting: boolean;
}

export interface Screen {
  cents: number;
  productId: number;
  revision: number;
  clientSecret: string;
  intentId: string;
}
/** A person in the world, among those whose joins are played together. */
export interface Run {
  world: World;
  person: Person;
  /** Ids for what is armed. */
  nextId: () => number;
  /** Resolves when the other joins of the unit have come as far. */
  meet: () => Promise<void>;
  /** Resolves when they have all ended. */
  part: () => Promise<void>;
}
