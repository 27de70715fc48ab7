import { sharedValue } from '#ui/sharedValue.ts';

const answer = sharedValue<((isSignedIn: boolean) => void) | null>(null);
let asked: Promise<boolean> | null = null;

/** The one question for all calls that fail because the session has ended. */
export const signInAgain = {
  /** Shows the dialog, if it is not shown yet. Resolves with whether the person signed in. */
  ask(): Promise<boolean> {
    asked ??= new Promise((resolve) => {
      answer.set((isSignedIn) => {
        asked = null;
        answer.set(null);
        resolve(isSignedIn);
      });
    });
    return asked;
  },
  /** Returns what answers the question; null if nobody asks. */
  use: answer.use,
};
