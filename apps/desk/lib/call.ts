import { callDesk, type DeskArguments } from '#client/deskClient.ts';
import type { DeskCallName } from '#contract/deskCalls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { isSignedOut, lastMe } from './me.ts';
import { signInAgain } from './signInAgain.ts';

/**
 * Makes a call. If the session has ended meanwhile, asks to sign in again and then makes it once more, so that nobody loses their
 * place. Throws `ApiError` for a failure, `Unsent` without an answer.
 */
export async function call<Name extends DeskCallName>(
  name: Name,
  ...options: DeskArguments<Name>
): Promise<DeskData<Name>> {
  try {
    return await callDesk(name, ...options);
  } catch (error) {
    if (!isSignedOut(error) || (await lastMe()) === null || !(await signInAgain.ask())) throw error;
    return callDesk(name, ...options);
  }
}
