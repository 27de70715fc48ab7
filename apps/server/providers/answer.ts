/** What came of one question to a provider or the database: an answer, a refusal with its HTTP status, or nothing. */
export type Answer<T> =
  | { said: T }
  | { refused: { status: number; message: string } }
  /** Why there was no answer. */
  | { down: string };
