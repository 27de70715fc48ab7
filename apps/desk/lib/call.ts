import { callDesk, type DeskArguments, takeDeskFile } from '#client/deskClient.ts';
import type { DeskCallName, DeskFileName } from '#contract/deskCalls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { isSignedOut, lastMe } from './me.ts';
import { signInAgain } from './signInAgain.ts';

/** Makes a call. Throws `ApiError` for a failure, `Unsent` without an answer. */
export function call<Name extends DeskCallName>(
  name: Name,
  ...options: DeskArguments<Name>
): Promise<DeskData<Name>> {
  return signedIn(() => callDesk(name, ...options));
}

/** Takes a file. Throws as {@link call} does. */
export function takeFile<Name extends DeskFileName>(
  name: Name,
  ...options: DeskArguments<Name>
): Promise<ArrayBuffer> {
  return signedIn(() => takeDeskFile(name, ...options));
}

/** If the session has ended meanwhile, asks to sign in again and then asks once more, so that nobody loses their place. */
async function signedIn<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isSignedOut(error) || (await lastMe()) === null || !(await signInAgain.ask())) throw error;
    return ask();
  }
}
