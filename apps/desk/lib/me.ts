import { callDesk } from '#client/deskClient.ts';
import { ApiError } from '#client/failures.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { sharedValue } from '#ui/sharedValue.ts';

export type Me = DeskData<'getMe'>;

/** The member of staff who is signed in; null if nobody is, or if this is not known yet. */
export const me = sharedValue<Me | null>(null);
let latest: Promise<Me | null> = Promise.resolve(null);

/** Asks the server who is signed in, and sets {@link me}. */
export function learnMe(): Promise<Me | null> {
  latest = callDesk('getMe').catch((error: unknown) => {
    if (isSignedOut(error)) return null;
    throw error;
  });
  return latest.then((learnt) => {
    me.set(learnt);
    return learnt;
  });
}

/** Returns the result of the last {@link learnMe}; null if it failed. */
export const lastMe = () => latest.catch(() => null);

/** Asks the server whether somebody is signed in now. If nobody is, or the server does not answer, {@link me} stays unchanged. */
export async function isSignedIn(): Promise<boolean> {
  try {
    me.set(await callDesk('getMe'));
    return true;
  } catch {
    return false;
  }
}

/** Whether a call failed because nobody is signed in. */
export function isSignedOut(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 401;
}

/** Returns who is signed in, for components of pages. Pages are only shown to users who are signed in. */
export function useMe(): Me {
  const learnt = me.use();
  if (!learnt) throw new Error('Nobody is signed in.');
  return learnt;
}
