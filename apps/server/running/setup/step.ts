export interface SetupStep {
  /** What the step does, as an imperative: "Register …". */
  text: string;
  /**
   * Takes the step. Returns a sentence about the result; throws if the provider refuses. Null if only a person can take the step.
   */
  apply: (() => Promise<string>) | null;
}

/** What a provider's account lacks. `steps` is empty if nothing is missing. */
export interface SetupPlan {
  provider: string;
  steps: readonly SetupStep[];
  /** One sentence for each thing that is already set up. */
  inOrder: readonly string[];
}
