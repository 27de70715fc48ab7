/**
 * The result of a call to a provider or the database: the answer, a refusal with its HTTP status, or the reason why no answer
 * came.
 */
export type Answer<T> =
  | { said: T }
  | { refused: { status: number; message: string } }
  /** The reason why no answer came. */
  | { down: string };
