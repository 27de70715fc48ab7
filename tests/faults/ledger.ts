import type Stripe from 'stripe';
import type { Person } from './person.ts';
import { contactIdOf, emailsOf, type World } from './world.ts';

/** A fault that a check after the run has found. */
export interface Difference {
  kind: string;
  /** What the fault is about: a join's name in the plan, a session's uuid or an intent's id. */
  subject: string;
  text: string;
}

interface Membership {
  session_uuid: string;
  contact_id: string | null;
  person_id: number;
  product_id: number;
  type: string;
  payment_intent: string;
  standing: string;
}

/**
 * Compares three sources without the server's own code: Stripe's charges, our tables (read by plain SQL), and the orders that
 * people saw on their screens. Also checks which contacts are members in HubSpot.
 */
export async function countByHand(world: World, people: readonly Person[]): Promise<Difference[]> {
  const found: Difference[] = [];
  const byUuid = new Map(people.flatMap((person) => (person.uuid ? [[person.uuid, person] as const] : [])));
  const add = (kind: string, session: string, text: string) => {
    const name = byUuid.get(session)?.join.name;
    found.push({ kind, subject: name ? `join ${name} (${session})` : session, text });
  };

  const environment = (
    await world.database.query<{ value: string }>(`select value from secret where name = 'environment'`)
  ).rows[0]!.value;
  const isOurs = ({ metadata }: { metadata: Stripe.Metadata | null }) =>
    metadata?.app === 'induct' && metadata.environment === environment;
  const charges = (await world.everything<Stripe.Charge>('charges')).filter(
    (charge) => charge.status === 'succeeded' && isOurs(charge),
  );
  const disputes = await world.everything<Stripe.Dispute>('disputes');
  const disputed = new Map(disputes.map(({ charge, status }) => [String(charge), status]));
  const kept = charges.filter(
    ({ id, amount, amount_refunded }) => amount_refunded < amount && disputed.get(id) !== 'lost',
  );
  const everHeld = (
    await world.database.query<Membership>(
      `select session_uuid, contact_id, person_id, product_id, type, payment_intent, standing
       from membership join person on person.id = person_id`,
    )
  ).rows;
  const memberships = everHeld.filter(({ standing }) => standing === 'active' || standing === 'disputed');
  const keptOf = Map.groupBy(kept, ({ payment_intent }) => String(payment_intent));
  const boughtBy = Map.groupBy(memberships, ({ payment_intent }) => payment_intent);

  for (const charge of kept) {
    const intentId = String(charge.payment_intent);
    const { session = '', kind } = charge.metadata;
    const person = byUuid.get(session);
    const dollars = (charge.amount / 100).toFixed(2);
    if (!person) {
      add('unknown session', session, `$${dollars} by ${intentId} for a join that nobody made`);
      continue;
    }
    if (charge.amount_refunded > 0 && charge.amount_refunded !== person.returned?.cents)
      add('partly refunded', session, `$${dollars} by ${intentId}`);
    const bought = boughtBy.get(intentId) ?? [];
    const isOpen = disputed.get(charge.id) === 'needs_response';
    if (bought.some(({ standing }) => (standing === 'disputed') !== isOpen))
      add('dispute unlike standing', session, `$${dollars} by ${intentId}, ${disputed.get(charge.id)}`);
    if (bought.length !== 1 || bought[0]!.session_uuid !== session)
      add('charge without a membership', session, `$${dollars} by ${intentId}: ${bought.length} memberships`);
    const seen = person.seen.filter((one) => one.kind === kind && one.cents === charge.amount);
    if (seen.length === 0)
      add(
        'amount that was not on the screen',
        session,
        `$${dollars} by ${intentId}; on the screen were ${JSON.stringify(person.seen)}`,
      );
    else if (bought.length === 1 && !seen.some(({ productId }) => productId === bought[0]!.product_id))
      add(
        'another product',
        session,
        `product ${bought[0]!.product_id} by ${intentId} of $${dollars}; on the screen were ${JSON.stringify(seen)}`,
      );
  }
  for (const { session_uuid, type, payment_intent } of memberships)
    if (keptOf.get(payment_intent)?.length !== 1)
      add(
        'membership without a charge',
        session_uuid,
        `a ${type} by ${payment_intent}, of which ${keptOf.get(payment_intent)?.length ?? 0} charges are kept`,
      );
  for (const [key, twice] of Map.groupBy(kept, ({ metadata }) => `${metadata.session} ${metadata.kind}`))
    if (twice.length > 1)
      add(
        'double charge',
        key.split(' ')[0]!,
        twice.map(({ payment_intent, amount }) => `${payment_intent} ${amount}`).join(', '),
      );
  const byContact = Map.groupBy(memberships, ({ person_id, type }) => `person ${person_id}, ${type}`);
  for (const [key, twice] of byContact)
    if (twice.length > 1)
      add('held twice', twice[0]!.session_uuid, `${key}: ${twice.map((one) => one.session_uuid)}`);

  await stuck(world, everHeld, isOurs, add);
  await atHubspot(world, people, memberships, add);
  return found;
}

/**
 * Reports intents and payments that are still open, orders that are still frozen, and joins whose state does not match their
 * memberships.
 */
async function stuck(
  { database, everything }: World,
  everHeld: readonly Membership[],
  isOurs: (object: { metadata: Stripe.Metadata }) => boolean,
  add: (kind: string, session: string, text: string) => void,
): Promise<void> {
  for (const intent of await everything<Stripe.PaymentIntent>('payment_intents'))
    if (isOurs(intent) && intent.status !== 'succeeded' && intent.status !== 'canceled')
      add('open intent', intent.metadata.session ?? '', `${intent.id} is ${intent.status}`);
  const { rows: sessions } = await database.query<{ uuid: string; state: string; upgrade: string }>(
    `select uuid, state, upgrade from join_session where state in ('paying', 'paid') or upgrade = 'taken'`,
  );
  const holds = (uuid: string, isUpgrade: boolean) =>
    everHeld.some(
      ({ session_uuid, type }) => session_uuid === uuid && (type === 'membership_upgrade') === isUpgrade,
    );
  for (const { uuid, state, upgrade } of sessions) {
    if (state === 'paying') add('session stuck', uuid, 'its order is frozen for a payment');
    if (state === 'paid' && !holds(uuid, false))
      add('paid for nothing', uuid, 'it is paid, and bought nothing');
    if (upgrade === 'taken' && !holds(uuid, true)) add('upgrade of nothing', uuid, 'taken, and holds none');
  }
  const paid = new Set(sessions.filter(({ state }) => state === 'paid').map(({ uuid }) => uuid));
  for (const { session_uuid, type, standing } of everHeld)
    if (type === 'membership' && standing === 'active' && !paid.has(session_uuid))
      add('member of an unpaid join', session_uuid, 'it holds a membership and is not paid');
  const { rows: open } = await database.query<{ intent_id: string; session_uuid: string }>(
    `select intent_id, session_uuid from payment where status = 'open'`,
  );
  for (const { intent_id, session_uuid } of open)
    add('open payment', session_uuid, `${intent_id} is open in our table`);
}

/**
 * Checks which contacts are members at HubSpot:
 *
 * - Each contact that holds a membership must be a member.
 * - For each holder without a contact, one contact with the holder's email must be a member.
 * - No other contact may be a member.
 *
 * A contact that has the email of a holder and another name must keep its earlier status
 * (docs/decisions/0012-hubspot-is-a-projection.md).
 */
async function atHubspot(
  world: World,
  people: readonly Person[],
  held: readonly Membership[],
  add: (kind: string, session: string, text: string) => void,
): Promise<void> {
  // The servers still follow changes in HubSpot, so somebody may be due just now. Whoever is due is sent first, and only those
  // who then remain are differences.
  for (const { uuid, refusal } of await world.queueForHubspot())
    add('not told to HubSpot', uuid, refusal ?? 'it is due and was not sent');
  const memberships = held.filter(({ type }) => type === 'membership');
  const contacts = await world.contacts();
  const rightly = new Set<string>();
  for (const { contact_id, session_uuid } of memberships) {
    if (contact_id === null) continue;
    rightly.add(contact_id);
    const contact = contacts.find(({ id }) => id === contact_id);
    if (contact?.status !== 'member')
      add('no member at HubSpot', session_uuid, `contact ${contact_id} is ${contact?.status ?? 'nobody'}`);
  }
  for (const { join, uuid } of people) {
    if (join.contact !== null || uuid === null) continue;
    const holds = memberships.some(({ session_uuid, contact_id }) => session_uuid === uuid && !contact_id);
    const emails: unknown[] = emailsOf(join);
    const ofEmail = contacts.filter(
      (one) => emails.includes(one.email) || emails.includes(one.personalEmail),
    );
    // A prospect has another name, so the joiner gets a separate contact.
    const isOthers = (one: (typeof contacts)[number]) =>
      join.known === 'prospect' && one.personalEmail === null;
    const isKept = ofEmail.some(
      (one) => one.status === join.known && (join.known === 'former' || isOthers(one)),
    );
    if (join.known !== null && join.known !== 'blank' && !isKept && !(holds && join.known === 'former'))
      add(
        'written over at HubSpot',
        uuid,
        `a contact of ${emails[0]} was ${join.known} before; now: ${ofEmail.map(({ id, status }) => `${id} ${status}`).join(', ')}`,
      );
    if (!holds) continue;
    const members = ofEmail.filter((one) => one.status === 'member' && !isOthers(one));
    for (const { id } of members) rightly.add(id);
    if (members.length !== 1)
      add(
        'no member at HubSpot',
        uuid,
        `${members.length} of ${ofEmail.length} contacts of ${emails[0]} are members`,
      );
  }
  const byContact = new Map(
    people.flatMap(({ join, uuid }) =>
      join.contact === null ? [] : [[contactIdOf(join.contact), uuid ?? ''] as const],
    ),
  );
  for (const { id, email, status } of contacts)
    if (status === 'member' && !rightly.has(id))
      add('member at HubSpot alone', byContact.get(id) ?? '', `contact ${id}, ${email}`);
}
