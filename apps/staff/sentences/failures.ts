import type { Remedy } from '#core/remedy.ts';
import { CrmRefused, CrmUnavailable, OtherAccount } from '../../server/crm/hubspot/errors.ts';
import { Failed } from '../../server/platform/failed.ts';
import { Refusal } from '../../server/platform/http/refusal.ts';
import { NotCsv } from '../../server/platform/readCsv.ts';
import { commandOf } from './remedies.ts';

/** The words before a remedy's command in a sentence. They introduce what the command is for. */
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

/** Returns the end of a sentence about a problem: the commands of its remedies. Empty if there are none. */
export function remedySentence(...remedies: readonly (Remedy | null)[]): string {
  return remedies
    .flatMap((remedy) => (remedy === null ? [] : [` ${leads[remedy.do] ?? 'See'}: ${commandOf(remedy)}`]))
    .join('.');
}

/** Returns the sentence that staff read if a use case cannot do what they asked: the reason, and the command that helps. */
export function failureSentence({ message, remedy }: Pick<Failed, 'message' | 'remedy'>): string {
  return `${message}${remedySentence(remedy)}`;
}

/** Returns the sentence that staff read about an error that stopped a command; null for an unexpected error. */
export function sentenceOf(error: unknown): string | null {
  if (error instanceof Failed) return failureSentence(error);
  if (error instanceof OtherAccount) return `HubSpot: ${failureSentence(error)}`;
  if (error instanceof CrmUnavailable || error instanceof CrmRefused) return `HubSpot: ${error.message}`;
  return error instanceof Refusal || error instanceof NotCsv ? error.message : null;
}
