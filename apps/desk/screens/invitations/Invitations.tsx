import { useLoaderData } from 'react-router';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Section } from '../../components/Section.tsx';
import { Explain } from './Explain.tsx';
import { InvitationList } from './InvitationList.tsx';
import type { InvitationData } from './loadInvitations.ts';

/** Which codes there are, whom they lead to, and why one fails. */
export function Invitations() {
  const data = useLoaderData() as InvitationData;
  return (
    <>
      <PageHeading title="Invitations" />
      <Section title="Why does this code fail?">
        <Explain key={data.explained?.text} explained={data.explained} />
      </Section>
      <Section title="All invitations">
        <InvitationList data={data} />
      </Section>
    </>
  );
}
