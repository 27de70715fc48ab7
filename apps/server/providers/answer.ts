/** The result of a call to a provider or the database: an answer, a refusal with its HTTP status, or no answer. */
export type Answer<T> =
  | { said: T }
  | { refused: { status: number; message: string } }
  /** Why there was no answer. */
  | { down: string };
