import { callDesk } from '#client/deskClient.ts';
import { ApiError, Unsent } from '#client/failures.ts';

type Options = Record<string, unknown>;

/** Loaded when the first passkey is asked for. */
const load = () => import(/* webpackChunkName: "passkeys" */ '@simplewebauthn/browser');

/** Signs in by a passkey of this browser. Throws if the person cancels, or the server refuses it. */
export async function signInByPasskey(): Promise<void> {
  const { startAuthentication } = await load();
  const { options } = await callDesk('getPasskeyOptions', { body: { isNew: false } });
  const credential = await startAuthentication({ optionsJSON: options as never });
  await callDesk('signInByPasskey', { body: { credential: { ...credential } } });
}

/** Makes a passkey by options of the server, and has it stored. `token`: of the link that the person came by. */
export async function addPasskey(options: Options, token?: string): Promise<void> {
  const { startRegistration } = await load();
  const credential = await startRegistration({ optionsJSON: options as never });
  await callDesk('addPasskey', {
    body: { credential: { ...credential }, ...(token !== undefined && { token }) },
  });
}

/** Makes another passkey for who is signed in. */
export async function addAnotherPasskey(): Promise<void> {
  const { options } = await callDesk('getPasskeyOptions', { body: { isNew: true } });
  await addPasskey(options);
}

/** Returns the sentence for a failure: the server's, or what became of the browser's own dialog. */
export function passkeySentence(error: unknown): string {
  if (error instanceof ApiError || error instanceof Unsent)
    return error.userMessage ?? 'The desk did not answer. Please try again.';
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') return 'This device has a passkey of yours already.';
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'That was cancelled, or took too long. Please try again.';
  return 'This browser could not use a passkey. Please try again, or take another browser.';
}
