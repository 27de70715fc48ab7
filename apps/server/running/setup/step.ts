export interface SetupStep {
  /** The action of the step, as an imperative: "Register …". */
  text: string;
  /**
   * Performs the step. Returns a sentence about the result; throws if the provider refuses. Null if only a person can perform the
   * step.
   */
  apply: (() => Promise<string>) | null;
}

/** The things that a provider's account lacks. `steps` is empty if nothing is missing. */
export interface SetupPlan {
  provider: string;
  steps: readonly SetupStep[];
  /** One sentence for each thing that is already set up. */
  inOrder: readonly string[];
}
