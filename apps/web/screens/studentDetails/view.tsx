import { useLoaderData } from 'react-router';
import type { SubmittedDetails } from '#core/studentDetails.ts';
import { Card } from '../../components/Card.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { recall } from '../../lib/session.ts';
import { DetailsForm } from './DetailsForm.tsx';
import type { loader } from './loader.ts';
import { emptyDetails, prefill, unreadFields } from './prefill.ts';

export function Component() {
  const { contact, place } = useLoaderData<typeof loader>();
  const known = 'data' in contact ? prefill(contact.data, new Date().getFullYear(), place) : emptyDetails;
  const unread = 'data' in contact ? unreadFields(contact.data, known) : {};
  const guardianConsent = ('data' in contact && contact.data.guardianConsent) || null;
  const hasGuardianConsent = guardianConsent?.isGiven ?? false;
  return (
    <Card>
      <ProgressBar current="Student Details" />
      <PageHeading title="Student Details" />
      {'kind' in contact && contact.kind === 'lost' ? (
        // The session cannot continue. No form is shown, since the server would not save what is typed into it.
        <LoadFailed failure={contact} />
      ) : (
        <DetailsForm
          invitation={('data' in contact && contact.data.invitation) || null}
          guardianConsent={guardianConsent?.sentence ?? null}
          initial={{ ...known, hasGuardianConsent, ...recall<SubmittedDetails>('joinDraft') }}
          unread={unread}
          failure={'kind' in contact ? contact : null}
        />
      )}
    </Card>
  );
}
