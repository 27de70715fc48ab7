import { type ActionFunctionArgs, redirect, type ShouldRevalidateFunctionArgs } from 'react-router';
import { ApiError, messageOf } from '#client/failures.ts';
import { screens } from '#core/navigation.ts';
import {
  DETAILS_NOT_ACCEPTED,
  DETAILS_SUBMITTED,
  fallback,
  NO_SESSION_FOR_MEMBERSHIP,
} from '#core/sentences.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { call } from '../../lib/api.ts';
import { storedSession } from '../../lib/session.ts';
import { raiseToast } from '../../lib/toasts.ts';

interface Refusal {
  message: string;
  errors: Record<string, string>;
  goOn: string | undefined;
}

/** Saves the details and redirects to Membership. */
export async function action({ request }: ActionFunctionArgs): Promise<Response | Refusal> {
  const details = (await request.json()) as StudentDetails & { hasGuardianConsent?: boolean };
  const uuid = storedSession();
  if (!uuid) return { message: NO_SESSION_FOR_MEMBERSHIP, errors: {}, goOn: undefined };
  try {
    await call('submitDetails', { params: { uuid }, body: { ...details, isTOLA: true } });
  } catch (error) {
    const answered = error instanceof ApiError ? error : null;
    const sentence = answered && answered.status < 300 ? DETAILS_NOT_ACCEPTED : fallback.submitDetails;
    return { message: messageOf(error, sentence), errors: answered?.errors ?? {}, goOn: answered?.goOn };
  }
  raiseToast({ kind: 'success', title: 'Success', text: DETAILS_SUBMITTED });
  return redirect(screens.membership);
}

/** Returns false after a submission, so that the contact is not loaded again. */
export function shouldRevalidate({
  formMethod,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return formMethod === undefined && defaultShouldRevalidate;
}
