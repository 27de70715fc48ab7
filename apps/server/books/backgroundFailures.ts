import { notifyStaff } from '../letters/notifyStaff.ts';
import type { Deps } from './deps.ts';

/**
 * Collects the failures of one run of a background task and groups them by cause. Writes one log line for each cause and run, and
 * one notice for each cause, however many payments are affected.
 */
export class BackgroundFailures {
  private readonly causes = new Map<string, { error: unknown; subjects: string[] }>();

  /** `subject` is the intent or event whose handling failed. */
  add(error: unknown, subject: string): void {
    const cause = causeOf(error);
    const known = this.causes.get(cause);
    if (known) known.subjects.push(subject);
    else this.causes.set(cause, { error, subjects: [subject] });
  }

  /** `what`: what failed, as in "a payment could not be settled". */
  async report({ log, database }: Deps, what: string): Promise<void> {
    for (const [cause, { error, subjects }] of this.causes) {
      log.error({ err: error, count: subjects.length, first: subjects[0] }, what);
      const params = { what, cause };
      await notifyStaff(database, { kind: 'background', subject: null, params, remedy: { do: 'reconcile' } });
    }
  }
}

/**
 * Returns an error's message without the parts that differ between payments (our ids, Stripe's ids, numbers). Failures with the
 * same cause then have the same text.
 */
function causeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const general = message
    .replace(/\b(pi|ch|py|re|pyr|evt|cus|pm|req)_\w+/g, '…')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '…')
    .replace(/\d+/g, 'N');
  return /[.!?]$/.test(general) ? general : `${general}.`;
}
