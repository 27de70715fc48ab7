import type { Remedy } from '#core/remedy.ts';
import type { Failed } from '../../server/platform/failed.ts';
import { commandOf } from './remedies.ts';

/** What a command does that would help, as the beginning of a sentence that ends with it. */
const leads: Partial<Record<Remedy['do'], string>> = {
  'give back': 'Give the join back',
  'refund payment': 'To give it back',
  'assign refund': 'Say what it was for',
  'settle missing': 'To make again what Stripe knows',
  'move to HubSpot account': 'If the society has moved',
  'set up': 'To do it',
  'retry at HubSpot': 'Afterwards',
  'look at what HubSpot refuses': 'Which, and why',
  migrate: 'To run them now',
  'set document key': 'To begin',
};

/** Returns the end of a sentence about something with remedies: their commands. Empty without any. */
export function remedySentence(...remedies: readonly (Remedy | null)[]): string {
  return remedies
    .flatMap((remedy) => (remedy === null ? [] : [` ${leads[remedy.do] ?? 'See'}: ${commandOf(remedy)}`]))
    .join('.');
}

/** Returns what staff read of a use case that cannot do what they asked: why, and the command that helps. */
export function failureSentence({ message, remedy }: Pick<Failed, 'message' | 'remedy'>): string {
  return `${message}${remedySentence(remedy)}`;
}
