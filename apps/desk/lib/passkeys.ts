import { callDesk } from '#client/deskClient.ts';
import { ApiError, Unsent } from '#client/failures.ts';

type Options = Record<string, unknown>;

/** The library is loaded when a passkey is first used. */
const load = () => import(/* webpackChunkName: "passkeys" */ '@simplewebauthn/browser');

/** Signs in by a passkey of this browser. Throws if the user cancels, or if the server refuses the passkey. */
export async function signInByPasskey(): Promise<void> {
  const { startAuthentication } = await load();
  const { options } = await callDesk('getPasskeyOptions', { body: { isNew: false } });
  const credential = await startAuthentication({ optionsJSON: options as never });
  await callDesk('signInByPasskey', { body: { credential: { ...credential } } });
}

/**
 * Creates a passkey with the server's options, and stores it at the server. `token`: the token of the sign-in link that the
 * person opened.
 */
export async function addPasskey(options: Options, token?: string): Promise<void> {
  const { startRegistration } = await load();
  const credential = await startRegistration({ optionsJSON: options as never });
  await callDesk('addPasskey', {
    body: { credential: { ...credential }, ...(token !== undefined && { token }) },
  });
}

/** Creates another passkey for the member of staff who is signed in. */
export async function addAnotherPasskey(): Promise<void> {
  const { options } = await callDesk('getPasskeyOptions', { body: { isNew: true } });
  await addPasskey(options);
}

/** Returns the sentence for a failure: the server's message, or the outcome of the browser's own dialog. */
export function passkeySentence(error: unknown): string {
  if (error instanceof ApiError || error instanceof Unsent)
    return error.userMessage ?? 'The desk did not answer. Please try again.';
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') return 'This device has a passkey of yours already.';
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'That was cancelled, or took too long. Please try again.';
  return 'This browser could not use a passkey. Please try again, or take another browser.';
}
