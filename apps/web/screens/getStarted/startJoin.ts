import { redirect } from 'react-router';
import { ApiError, messageOf } from '#client/failures.ts';
import { cleanText } from '#core/cleanText.ts';
import { screens } from '#core/navigation.ts';
import { ELIGIBILITY_FAILED, fallback } from '#core/sentences.ts';
import { call } from '../../lib/api.ts';
import { hasStartedOver, storeSession } from '../../lib/session.ts';

export type Submission = (
  | { mode: 'invite'; inviteCode: string }
  | { mode: 'self'; hasConfirmedEligibility: boolean }
) & {
  /** The key of the programme. */
  programme: string;
  isTOLA: boolean;
};

/** Why no join was started. `isMember`: the code belongs to a member, who need not join. */
export interface NotStarted {
  error: string;
  isMember: boolean;
}

/** Starts a join (specification, section 4, eligibility flow). Returns a redirect to the join, or an error message. */
export async function startJoin(submission: Submission): Promise<Response | NotStarted> {
  const started =
    submission.mode === 'invite' ? await joinByCode(submission) : await joinBySelfNomination(submission);
  if ('error' in started) return started;
  storeSession(started.uuid, started.programme);
  return redirect(screens.studentDetails);
}

async function joinByCode({ inviteCode, isTOLA, programme }: Submission & { mode: 'invite' }) {
  const invitationCode = cleanText(inviteCode);
  const checked = await attempt(
    call('checkEligibility', { body: { invitationCode, isTOLA } }),
    fallback.checkEligibility,
  );
  if ('error' in checked) return checked;
  if (checked.status !== 'success')
    return { error: checked.message || ELIGIBILITY_FAILED, isMember: checked.isMember ?? false };
  const { contactId } = checked;
  return contactId
    ? attempt(
        call('initiateJoin', {
          body: {
            contactId,
            invitationCode,
            isTOLA,
            programme,
            ...(hasStartedOver() && { startOver: true }),
          },
        }),
        fallback.initiateJoin,
      )
    : attempt(call('initiateSchoolJoin', { body: { invitationCode } }), fallback.initiateSchoolJoin);
}

function joinBySelfNomination({ hasConfirmedEligibility, isTOLA, programme }: Submission & { mode: 'self' }) {
  return attempt(
    call('initiateSelfNomination', { body: { hasConfirmedEligibility, isTOLA, programme } }),
    fallback.initiateSelfNomination,
  );
}

async function attempt<T>(calling: Promise<T>, sentence: string): Promise<T | NotStarted> {
  try {
    return await calling;
  } catch (error) {
    const isMember = error instanceof ApiError && error.code === 'already_member';
    return { error: messageOf(error, sentence), isMember };
  }
}
