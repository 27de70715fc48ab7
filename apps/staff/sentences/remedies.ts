import type { OrderLine } from '#core/orderLine.ts';
import { isMembershipType, type MembershipType } from '#core/product.ts';
import type { Remedy } from '#core/remedy.ts';

/** Returns a command as staff type it. */
export function operator(...words: readonly string[]): string {
  return ['npm run operator --', ...words].join(' ');
}

/**
 * Returns the command that assigns a refund to these lines of its order; with `none`, to nothing that was bought. If `assigned`
 * is empty, returns the command that lists the possible lines.
 */
export function assignCommand(
  refund: string,
  assigned: 'none' | readonly Pick<OrderLine, 'type' | 'productId'>[] = [],
): string {
  if (assigned === 'none') return operator('refund assign', refund, '--none');
  const has = (wanted: MembershipType) => assigned.some(({ type }) => type === wanted);
  const items = assigned.filter(({ type }) => !isMembershipType(type)).map(({ productId }) => productId);
  return operator(
    'refund assign',
    refund,
    ...(has('membership') ? ['--membership'] : []),
    ...(has('membership_upgrade') ? ['--upgrade'] : []),
    ...(items.length > 0 ? [`--items ${items.join(',')}`] : []),
  );
}

/** The commands of remedies that have no parameters; for one without a command, a text that says how to do it. */
const commands = {
  "refund in Stripe's dashboard": "in Stripe's dashboard, since no command gives back that alone",
  'settle missing': operator('settle --missing'),
  reconcile: operator('reconcile'),
  doctor: operator('doctor'),
  migrate: operator('migrate'),
  'set up': operator('setup'),
  'look at unknown documents': operator('documents unknown'),
  'look at reports': operator('notices'),
  'set document key': operator('rotate document-key'),
  'look at what HubSpot refuses': operator('contacts failed'),
} satisfies Partial<Record<Remedy['do'], string>>;

/** Returns the command of a remedy; if there is none, a text that says how to do it. */
export function commandOf(remedy: Remedy): string {
  switch (remedy.do) {
    case 'give back': {
      const { uuid, types, items, isIneligible, isTrial } = remedy;
      return operator(
        'refund',
        uuid,
        ...(types.includes('membership') ? [] : ['--no-membership']),
        ...(isIneligible ? ['--ineligible'] : []),
        ...(types.includes('membership_upgrade') ? ['--upgrade'] : []),
        ...(items === 'all' ? ['--items all'] : items.length > 0 ? [`--items ${items.join(',')}`] : []),
        ...(isTrial ? ['--dry-run'] : []),
      );
    }
    case 'refund payment':
      return operator('refund', remedy.intentId);
    case 'assign refund':
      return assignCommand(remedy.refund);
    case 'settle':
      return operator('settle', remedy.subject);
    case 'reject finally':
      return operator('documents reject', remedy.uuid, '--reason', remedy.reason, '--final');
    case 'merge or keep apart': {
      const names = `${remedy.uuid} ${remedy.other}`;
      const back = operator('refund', remedy.uuid, '--upgrade', '--items all');
      return `If it is one person: ${operator('person merge', names)}, and give one of them back: ${back}. If they are two, as father and son: ${operator('person keep-apart', names)}`;
    }
    case 'print certificate':
      return operator('certificate', remedy.uuid, '--name "NAME" FILE.pdf');
    case 'read story':
      return operator('story', remedy.uuid);
    case 'retry at HubSpot':
      return operator('contacts retry', remedy.uuid ?? 'all');
    case 'move to HubSpot account':
      return operator('contacts account', remedy.account);
    default:
      return commands[remedy.do];
  }
}
