/** One thing that setup would do, or that a person has to. */
export interface SetupStep {
  /** What is to be done, as a sentence without a subject: "Register …". */
  text: string;
  /** Does it, and says what came of it; null when a person has to. Throws when it was refused. */
  apply: (() => Promise<string>) | null;
}

/** What a provider's account still needs; an empty list when it has everything. */
export interface SetupPlan {
  provider: string;
  steps: readonly SetupStep[];
  /** What is in order already, a sentence each. */
  inOrder: readonly string[];
}
