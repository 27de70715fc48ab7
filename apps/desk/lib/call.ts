import { callDesk, type DeskArguments, takeDeskFile } from '#client/deskClient.ts';
import type { DeskCallName, DeskFileName } from '#contract/deskCalls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { isSignedOut, lastMe } from './me.ts';
import { signInAgain } from './signInAgain.ts';

/** Makes a call as {@link orSignInAgain} does. Throws `ApiError` for a failure, `Unsent` without an answer. */
export function call<Name extends DeskCallName>(
  name: Name,
  ...options: DeskArguments<Name>
): Promise<DeskData<Name>> {
  return orSignInAgain(() => callDesk(name, ...options));
}

/** Takes a file. Throws as {@link call} does. */
export function takeFile<Name extends DeskFileName>(
  name: Name,
  ...options: DeskArguments<Name>
): Promise<ArrayBuffer> {
  return orSignInAgain(() => takeDeskFile(name, ...options));
}

/**
 * Makes a call. If the session has ended meanwhile, asks to sign in again and then makes it once more, so that nobody loses their
 * place.
 */
export async function orSignInAgain<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!isSignedOut(error) || (await lastMe()) === null || !(await signInAgain.ask())) throw error;
    return make();
  }
}
