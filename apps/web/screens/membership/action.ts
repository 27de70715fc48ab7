import { type ActionFunctionArgs, redirect, type ShouldRevalidateFunctionArgs } from 'react-router';
import { ApiError, messageOf } from '#client/failures.ts';
import type { Body } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import { fallback, NO_SESSION_FOR_MEMBERSHIP } from '#core/sentences.ts';
import { call } from '../../lib/api.ts';
import { storedSession } from '../../lib/session.ts';

interface Refused {
  error: string;
  /** Whether the memberships on the screen may be outdated (after a 404 or 409). They are then loaded again. */
  isOutdated?: boolean;
}

/** Adds the membership to the order and redirects to Checkout. */
export async function action({ request }: ActionFunctionArgs): Promise<Response | Refused> {
  const body = (await request.json()) as Body<'setMembership'>;
  const uuid = storedSession();
  if (!uuid) return { error: NO_SESSION_FOR_MEMBERSHIP };
  try {
    const { status } = await call('setMembership', { params: { uuid }, body });
    if (status !== 'success') return { error: fallback.setMembership };
  } catch (error) {
    return {
      error: messageOf(error, fallback.setMembership),
      isOutdated: error instanceof ApiError && (error.status === 404 || error.status === 409),
    };
  }
  return redirect(screens.checkout);
}

/** Returns false after a submission, unless the server's answer has shown that the memberships on the screen are outdated. */
export function shouldRevalidate({
  actionResult,
  formMethod,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return (actionResult as Refused | undefined)?.isOutdated ?? (!formMethod && defaultShouldRevalidate);
}
