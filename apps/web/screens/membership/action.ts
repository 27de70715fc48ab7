import { type ActionFunctionArgs, redirect, type ShouldRevalidateFunctionArgs } from 'react-router';
import { screens } from '#core/navigation.ts';
import { fallback, NO_SESSION_FOR_MEMBERSHIP } from '#core/sentences.ts';
import { call, messageOf } from '../../lib/api.ts';
import { storedSession } from '../../lib/session.ts';

/** Adds the membership to the order and redirects to Checkout. */
export async function action({ request }: ActionFunctionArgs): Promise<Response | { error: string }> {
  const { membershipId } = (await request.json()) as { membershipId: number };
  const uuid = storedSession();
  if (!uuid) return { error: NO_SESSION_FOR_MEMBERSHIP };
  try {
    const { status } = await call('setMembership', { params: { uuid }, body: { membershipId } });
    if ((status as string) !== 'success') return { error: fallback.setMembership };
  } catch (error) {
    return { error: messageOf(error, fallback.setMembership) };
  }
  return redirect(screens.checkout);
}

/** Returns false after a submission, so that the memberships are not loaded again. */
export function shouldRevalidate({
  formMethod,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return formMethod === undefined && defaultShouldRevalidate;
}
