import { sharedValue } from '#ui/sharedValue.ts';

const answer = sharedValue<((isSignedIn: boolean) => void) | null>(null);
let asked: Promise<boolean> | null = null;

/** The question whether to sign in again. All calls that fail because the session has expired share it. */
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
  /** A hook that returns the function which answers the question; null if it is not being asked. */
  use: answer.use,
};
