/** Where in a delivery a fault meets it. */
export const stages = ['connect', 'mail', 'rcpt', 'data'] as const;
export type Stage = (typeof stages)[number];

/**
 * What a client may meet at a mail server.
 *
 * - `status`: answered with the SMTP `status`, 451 when absent
 * - `cut`: the connection is cut; at `data` in mid-message
 * - `cut_after`: at `data` the letter is kept, then the connection is cut before the answer
 * - `hang`: no answer
 * - `hang_after`: at `data` the letter is kept, and no answer comes
 * - `slow`: answered after `ms`
 */
export interface MailFault {
  kind: (typeof kinds)[number];
  at: Stage;
  /** SMTP's, three digits. */
  status?: number;
  /** What is said beside it. */
  message?: string;
  ms?: number;
  /** Only for a letter to this address; at `rcpt` and `data`. */
  to?: string;
  /** How many deliveries pass unharmed before the first one is hit. */
  skip?: number;
  /** How many are hit; 1 when absent. */
  times?: number;
}

const kinds = ['status', 'cut', 'cut_after', 'hang', 'hang_after', 'slow'] as const;
const fields = ['kind', 'at', 'status', 'message', 'ms', 'to', 'skip', 'times'];

/** Faults that wait for their deliveries, first come first served. In memory: a restart is a fresh start. */
export class MailFaults {
  #waiting: (MailFault & { skip: number; times: number })[] = [];

  /** Adds a fault, or says what is wrong with it. */
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

  /** The fault that this delivery meets, counted as used. */
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
    return fault;
  }
}
