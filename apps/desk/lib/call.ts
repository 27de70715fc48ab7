import { callDesk, type DeskArguments, takeDeskFile } from '#client/deskClient.ts';
import type { DeskCallName, DeskFileName } from '#contract/deskCalls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { isSignedOut, lastMe } from './me.ts';
import { signInAgain } from './signInAgain.ts';

/** Makes a call with {@link orSignInAgain}. Throws `ApiError` for a failure, `Unsent` without an answer. */
export function call<Name extends DeskCallName>(
  name: Name,
  ...options: DeskArguments<Name>
): Promise<DeskData<Name>> {
  return orSignInAgain(() => callDesk(name, ...options));
}

/** Downloads a file. Throws the same errors as {@link call}. */
export function takeFile<Name extends DeskFileName>(
  name: Name,
  ...options: DeskArguments<Name>
): Promise<ArrayBuffer> {
  return orSignInAgain(() => takeDeskFile(name, ...options));
}

/**
 * Makes a call. If the session has expired, asks the user to sign in again and then makes the call once more, so that they can
 * continue on the same page.
 */
export async function orSignInAgain<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!isSignedOut(error) || (await lastMe()) === null || !(await signInAgain.ask())) throw error;
    return make();
  }
}
