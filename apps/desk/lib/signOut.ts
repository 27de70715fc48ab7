import { callDesk } from '#client/deskClient.ts';
import { messageOf } from '#client/failures.ts';
import { isSignedOut } from './me.ts';

/**
 * Ends the session or, with `everywhere`, all sessions of the member of staff. Then reloads the page, so that no data are left in
 * the browser. Returns a sentence if this failed.
 */
export async function signOut(body: { everywhere: boolean }): Promise<string | null> {
  try {
    await callDesk('signOut', { body });
  } catch (error) {
    if (!isSignedOut(error)) return messageOf(error, 'You are still signed in. Please try again.');
  }
  window.location.assign('/');
  return null;
}
