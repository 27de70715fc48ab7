import { useLoaderData } from 'react-router';
import { screens, screenTitles } from '#core/navigation.ts';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Card } from '../../components/Card.tsx';
import { BackLink, Foot } from '../../components/Foot.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { ProveYourself } from '../../components/ProveYourself.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { draft } from '../../lib/session.ts';
import type { ToProve } from '../../lib/toProve.ts';
import { DetailsForm } from './DetailsForm.tsx';
import type { loader } from './loader.ts';
import { emptyDetails, prefill, unreadFields } from './prefill.ts';

export function Component() {
  const { contact, place } = useLoaderData<typeof loader>();
  const known = 'data' in contact ? prefill(contact.data, new Date().getFullYear(), place) : emptyDetails;
  const unread = 'data' in contact ? unreadFields(contact.data, known) : {};
  const guardianConsent = ('data' in contact && contact.data.guardianConsent) || null;
  const hasGuardianConsent = guardianConsent?.isGiven ?? false;
  if ('data' in contact && contact.data.toProve) return <ProveFirst {...contact.data.toProve} />;
  return (
    <Card>
      <ProgressBar current="Student Details" />
      <PageHeading title="Student Details" />
      {'kind' in contact && contact.kind === 'lost' ? (
        // The session cannot continue. No form is shown, since the server would not save its values.
        <LoadFailed failure={contact} />
      ) : (
        <DetailsForm
          invitation={('data' in contact && contact.data.invitation) || null}
          guardianConsent={guardianConsent?.sentence ?? null}
          initial={{ ...known, hasGuardianConsent, ...draft.recall() }}
          unread={unread}
          failure={'kind' in contact ? contact : null}
        />
      )}
    </Card>
  );
}

const STUDENT_ALONE = 'Only the student can see these details. If that is you, please prove it first.';

/** Shown in place of the student's details to the holder of a checkout link, who may be a parent. */
function ProveFirst(toProve: ToProve) {
  return (
    <Card title={screenTitles.studentDetails}>
      <ProveYourself {...toProve} lead={STUDENT_ALONE} to={screens.studentDetails} />
      <Foot>
        <BackLink to={screens.checkout}>Back to checkout</BackLink>
        <StartOver />
      </Foot>
    </Card>
  );
}
