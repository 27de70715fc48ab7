import { redirect, replace } from 'react-router';
import { createClient } from '#client/client.ts';
import { lastReference } from './reference.ts';
import { storedSession } from './session.ts';
import { theSite } from './site.ts';
import { raiseToast } from './toasts.ts';

export const client = createClient({
  apiUrl: () => theSite().apiUrl,
  showFailure: ({ title, text, reference }) => {
    raiseToast({ kind: 'error', title, text, note: reference && `Reference: ${reference}` });
    if (reference) lastReference.set(reference);
  },
  redirectTo: replace,
});

export const { call, outcomeOf } = client;

/** Returns the id of the stored session, for loaders. Throws a redirect to the home page if there is none. */
export function requireSession(): string {
  const uuid = storedSession();
  if (!uuid) throw redirect('/');
  return uuid;
}
