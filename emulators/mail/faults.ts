/** The stages of a delivery at which a fault can occur. */
export const stages = ['connect', 'mail', 'rcpt', 'data'] as const;
export type Stage = (typeof stages)[number];

/**
 * A fault of a mail server, as a client sees it.
 *
 * - `status`: answers with the SMTP status in `status`, or with 451 if that is absent
 * - `cut`: cuts the connection; at the stage `data`, in the middle of the message
 * - `cut_after`: cuts the connection instead of answering; at `data`, after the letter was stored
 * - `hang`: never answers
 * - `hang_after`: never answers; at `data`, the letter is stored
 * - `slow`: answers after `ms`
 */
export interface MailFault {
  kind: (typeof kinds)[number];
  at: Stage;
  /** The SMTP status, three digits. */
  status?: number;
  /**
   * The text after the status. `{to}` in it stands for the recipient, whose address many servers repeat. refusals.ts has the
   * texts of real providers.
   */
  message?: string;
  ms?: number;
  /** Limits the fault to letters to this address; only for `rcpt` and `data`. */
  to?: string;
  /** How many matching deliveries pass before the first one has the fault; 0 when absent. */
  skip?: number;
  /** How many matching deliveries have the fault; 1 when absent. */
  times?: number;
}

const kinds = ['status', 'cut', 'cut_after', 'hang', 'hang_after', 'slow'] as const;
const fields = ['kind', 'at', 'status', 'message', 'ms', 'to', 'skip', 'times'];

/**
 * Faults that wait for matching deliveries, in the order in which they were added. They are kept in memory, so a restart removes
 * them.
 */
export class MailFaults {
  #waiting: (MailFault & { skip: number; times: number })[] = [];

  /** Adds a fault, or returns what is wrong with it. */
  add(fault: MailFault): string | undefined {
    if (!kinds.includes(fault.kind)) return `kind must be one of ${kinds.join(', ')}`;
    if (!stages.includes(fault.at)) return `at must be one of ${stages.join(', ')}`;
    const unknown = Object.keys(fault).find((name) => !fields.includes(name));
    if (unknown) return `a fault has no field named ${unknown}`;
    this.#waiting.push({ ...fault, skip: fault.skip ?? 0, times: fault.times ?? 1 });
    return undefined;
  }

  clear(): void {
    this.#waiting = [];
  }

  /**
   * Returns the fault of this delivery, which uses up one of the fault's `times`. A delivery that the fault's `skip` lets pass
   * has no fault, and uses up one of `skip`.
   */
  take(stage: Stage, recipients: readonly string[]): MailFault | undefined {
    const fault = this.#waiting.find(
      ({ at, to }) => at === stage && (to === undefined || recipients.includes(to)),
    );
    if (!fault) return undefined;
    if (fault.skip > 0) {
      fault.skip -= 1;
      return undefined;
    }
    fault.times -= 1;
    if (fault.times === 0) this.#waiting = this.#waiting.filter((other) => other !== fault);
    const message = fault.message?.replaceAll('{to}', recipients[0] ?? '');
    return message === undefined ? fault : { ...fault, message };
  }
}
