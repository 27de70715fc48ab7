import { matchPath } from './paths.ts';

/**
 * The faults that a client's request to a provider can meet.
 *
 * - `status`: answers with `status` without doing the work
 * - `status_after`: does the work, then answers with `status`
 * - `cut`: cuts the connection without doing the work
 * - `cut_after`: does the work, then cuts the connection
 * - `hang`: no work and no answer, until the client gives up
 * - `hang_after`: does the work, and never answers
 * - `slow`: begins the work after `ms`
 */
export type FaultKind = 'status' | 'status_after' | 'cut' | 'cut_after' | 'hang' | 'hang_after' | 'slow';

export interface Fault {
  kind: FaultKind;
  /** The HTTP method; any when absent. */
  method?: string;
  /** The path without query; `*` stands for one segment, a final `**` for the rest. Any path when absent. */
  path?: string;
  /** A text that the request's URL, parameters or idempotency key contains. Any request when absent. */
  about?: string;
  /** The HTTP status with which the faults `status` and `status_after` answer; 500 when absent. */
  status?: number;
  /** How long (ms) the fault `slow` delays the work; 1000 when absent. */
  ms?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** How many matching requests pass before the first one has the fault; 0 when absent. */
  skip?: number;
  /** How many matching requests have the fault; 1 when absent. */
  times?: number;
}

const KINDS = new Set<string>(['status', 'status_after', 'cut', 'cut_after', 'hang', 'hang_after', 'slow']);
const FIELDS = new Set([
  'kind',
  'method',
  'path',
  'about',
  'status',
  'ms',
  'headers',
  'body',
  'skip',
  'times',
]);

/**
 * Faults that wait for matching requests, in the order in which they were added. They are kept in memory, so a restart removes
 * them.
 */
export class Faults {
  #waiting: Fault[] = [];

  /** Adds a fault, or returns what is wrong with it. */
  add(fault: Fault): string | undefined {
    if (!KINDS.has(fault.kind)) return `kind must be one of ${[...KINDS].join(', ')}`;
    const unknown = Object.keys(fault).find((name) => !FIELDS.has(name));
    if (unknown) return `a fault has no field named ${unknown}`;
    this.#waiting.push({ ...fault, skip: fault.skip ?? 0, times: fault.times ?? 1 });
    return undefined;
  }

  list(): Fault[] {
    return this.#waiting;
  }

  clear(): void {
    this.#waiting = [];
  }

  /**
   * Returns the fault of this request, which uses up one of the fault's `times`. A request that the fault's `skip` lets pass has
   * no fault, and uses up one of `skip`. A fault with `about` is only for requests whose `text` contains it. Leaves out faults of
   * a kind that `kinds` does not accept.
   */
  take(
    method: string,
    path: string,
    text = '',
    kinds: (kind: FaultKind) => boolean = () => true,
  ): Fault | undefined {
    const fault = this.#waiting.find(
      (candidate) =>
        kinds(candidate.kind) &&
        (!candidate.method || candidate.method.toUpperCase() === method) &&
        (!candidate.path || matchPath(candidate.path, path) !== undefined) &&
        (!candidate.about || text.includes(candidate.about)),
    );
    if (!fault) return undefined;
    if (fault.skip! > 0) {
      fault.skip! -= 1;
      return undefined;
    }
    fault.times! -= 1;
    if (fault.times === 0) this.#waiting = this.#waiting.filter((other) => other !== fault);
    return fault;
  }
}
