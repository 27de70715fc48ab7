import type { KillPoint } from './operations.ts';
import type { Join } from './plan.ts';
import type { World } from './world.ts';

/**
 * An order that a screen showed, and for which the person may be charged. Recorded at Buy Now or Upgrade Now; if the person pays
 * `direct` (plan.ts), whenever Checkout is loaded.
 */
export interface Seen {
  kind: 'join' | 'upgrade';
  /** The Total Due Today (cents). */
  cents: number;
  /** The product id of the membership or upgrade. */
  productId: number;
}

/** A person who joins: the plan of the join, and what has happened to it so far. */
export interface Person {
  join: Join;
  uuid: string | null;
  /** The cookies of the person's browser, by name. All its tabs share them. */
  cookies: Map<string, string>;
  seen: Seen[];
  /** A text for each answer that our servers should never give. */
  complaints: string[];
  /** How the join has ended, in words that the person could use. */
  ended: string;
  /** The point at which a server was to be killed, if the join never reached that point. */
  missed: KillPoint | null;
  /** Checkout as the person last saw it. */
  screen: Screen | null;
  /** The item that staff refunded in Stripe's dashboard, with Stripe's id of that refund. */
  returned: { refundId: string; productId: number; cents: number } | null;
  /**
   * The payment that the bank left undecided at first; null if there is none. `settling` resolves when the bank has decided it.
   */
  held: { intentId: string; settling: Promise<void> | null } | null;
  /** How many changes of the order's intent were made to hang (joiner.ts). */
  hangs: number;
  /** A function that is called between Buy Now and the card's confirmation. */
  beforeCard: (() => Promise<unknown>) | null;
  /** Whether the person still intends to pay. */
  isWaiting: boolean;
}

export interface Screen {
  cents: number;
  productId: number;
  revision: number;
  clientSecret: string;
  intentId: string;
}
/** A join that is played: its person, its servers and stand-ins (`world`), and functions to keep step with joins of its unit. */
export interface Run {
  world: World;
  person: Person;
  /** Returns a new id for a point at which a server is to be killed or made to wait. */
  nextId: () => number;
  /** Resolves when every join of the unit has called its `meet`, at the latest after MEETING_MS (run.ts). */
  meet: () => Promise<void>;
  /** Resolves when every join of the unit has ended and called its `part`, at the latest after MEETING_MS. */
  part: () => Promise<void>;
}
