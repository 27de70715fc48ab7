import type { Remedy } from '#core/remedy.ts';

/**
 * A use case cannot do what staff asked. The message says why, and names no command or button: each front door offers the remedy in its
 * own way.
 */
export class Failed extends Error {
  readonly remedy: Remedy | null;
  constructor(message: string, remedy: Remedy | null = null) {
    super(message);
    this.remedy = remedy;
  }
}
