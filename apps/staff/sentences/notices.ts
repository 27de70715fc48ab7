import type { Notice } from '#core/notice.ts';
import { noticeSentence as whatIsSo } from '#core/noticeSentence.ts';
import { remedySentence } from './failures.ts';
import { commandOf, operator } from './remedies.ts';

/** How the command line names a join. */
export const joinName = (uuid: string) => `join ${uuid}`;

/** Returns the sentence of a notice for the command line: what has happened, and the command that helps. */
export function noticeSentence(notice: Notice): string {
  return `${whatIsSo(notice, joinName)}${helpOf(notice)}`;
}

/** Returns the end of a notice's sentence: its command. Empty if no command helps. */
function helpOf({ kind, params, remedy }: Notice): string {
  if (kind === 'provider_trouble') return remedySentence(remedy);
  if (remedy === null) return '';
  const command = commandOf(remedy);
  switch (kind) {
    case 'refund_elsewhere':
      return params.bought && !params.owed && params.names === null ? ` ${command}` : '';
    case 'refund_failed':
      return params.isCardClosed ? '' : ` To decide it again: ${command}`;
    case 'refund_refused':
    case 'refund_dropped':
      return ` To decide it again: ${command}`;
    case 'held_twice':
    case 'upgrade_alone':
    case 'member_already':
    case 'duplicate_payment':
      return ` To give it back: ${command}`;
    case 'perhaps_twice':
      return ` ${command}`;
    case 'other_hubspot_account':
      return ` If the society has moved to account ${params.present}: ${command}`;
    case 'guessing':
      return ` They are made by: ${operator('invitations mint')}. Whether the address is a proxy's, which everybody shares: ${command}`;
    case 'blocked':
    case 'broken':
      return params.isLast ? ` It is counted: ${command}` : '';
    case 'background':
      return ` What differs: ${command}`;
    case 'event_given_up':
    case 'unknown_documents':
    case 'certificate_name':
      return ` See: ${command}`;
    default:
      return '';
  }
}
