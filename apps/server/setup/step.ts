/** One thing to do, either by setup or by a person. */
export interface SetupStep {
  /** What to do, as a sentence without a subject: "Register …". */
  text: string;
  /** Does the step and returns a sentence about the result. Throws if the provider refuses. Null if a person has to do the step. */
  apply: (() => Promise<string>) | null;
}

/** What a provider's account still needs. No steps if nothing is missing. */
export interface SetupPlan {
  provider: string;
  steps: readonly SetupStep[];
  /** What is already in order, one sentence for each thing. */
  inOrder: readonly string[];
}
