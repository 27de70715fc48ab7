import { CrmDenied, CrmUnavailable, OtherAccount } from '../../crm/hubspot/errors.ts';
import { DatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { StorageDown } from '../../providers/storage/storage.ts';
import { counted } from './counted.ts';
import { NotErasable } from './eraseJoins.ts';
import type { AtHubspot } from './leftAtHubspot.ts';

/** How far an erasure got before it stopped. */
export interface Progress {
  /** The step that the erasure had reached. */
  at: 'begin' | 'hubspot' | 'stripe' | 'here';
  /** The contacts and files that were deleted in HubSpot; null if HubSpot was not asked, or not all of them were deleted. */
  atHubspot: AtHubspot | null;
}

/** Thrown if an erasure stopped midway. `cause` is the error that stopped it. */
export class StoppedErasing extends Error {
  readonly progress: Progress;
  constructor(cause: unknown, progress: Progress) {
    super('an erasure stopped on its way', { cause });
    this.progress = progress;
  }

  /** Sentences for staff: the reason, and what is erased and what is not. If the cause is unexpected, there is no reason. */
  get sentences(): string {
    const reason = reasonOf(this.cause);
    return [...(reason === null ? [] : [reason]), standingOf(this)].join(' ');
  }

  /** Whether the cause is an unexpected error, which the caller should throw. */
  get isFault(): boolean {
    return reasonOf(this.cause) === null;
  }
}

function standingOf({ cause, progress: { at, atHubspot } }: StoppedErasing): string {
  if (at === 'begin') return 'Nothing was erased.';
  if (at === 'hubspot') return 'Nothing was erased here and at Stripe; at HubSpot a part may be gone.';
  const done = atHubspot === null ? '' : `Erased at HubSpot: ${counted(atHubspot)}. `;
  if (at === 'stripe') return `${done}Nothing was erased here; at Stripe a part may be gone.`;
  const here =
    cause instanceof DatabaseUnavailable
      ? 'Whether it is erased here is not known.'
      : 'Nothing was erased here.';
  return `${done}Erased at Stripe. ${here}`;
}

/** Returns the cause as a sentence for staff; null for an unexpected error. */
export function reasonOf(cause: unknown): string | null {
  if (cause instanceof NotErasable) return cause.message;
  if (cause instanceof OtherAccount) return cause.message;
  if (cause instanceof CrmDenied)
    return 'HubSpot does not let this token delete contacts and files: give it the scopes crm.objects.contacts.write and files, or delete the contact in HubSpot, and erase the person here alone.';
  if (cause instanceof CrmUnavailable) return `HubSpot cannot be reached: ${cause.message}.`;
  if (cause instanceof Refusal)
    return cause.status === 503 ? 'Stripe does not answer.' : `Stripe refuses it: ${cause.message}`;
  if (cause instanceof StorageDown) return 'The storage of the documents does not answer.';
  if (cause instanceof DatabaseUnavailable) return `The database does not do it: ${cause.message}.`;
  // A system error about a file of the journal or of a document.
  const { syscall, code } = cause as NodeJS.ErrnoException;
  if (syscall === undefined) return null;
  return code === 'ENOSPC'
    ? 'The disk is full: the journal of erasures, in DATA_DIR, or a document cannot be written.'
    : `A file cannot be read or written: ${(cause as Error).message}.`;
}
