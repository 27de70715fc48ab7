import { Link, useLoaderData } from 'react-router';
import { buttonClass } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Section } from '../../components/Section.tsx';
import { Explain } from './Explain.tsx';
import { InvitationList } from './InvitationList.tsx';
import styles from './Invitations.module.css';
import type { InvitationData } from './loadInvitations.ts';

/** The page Invitations: the codes, whom they lead to, and why a code fails. */
export function Invitations() {
  const data = useLoaderData() as InvitationData;
  return (
    <>
      <PageHeading title="Invitations" />
      <p className={styles.files}>
        <Link to="/invitations/upload" className={buttonClass({ slim: true })}>
          Upload
        </Link>
        <Link to="/invitations/make" className={buttonClass({ variant: 'second', slim: true })}>
          Make codes
        </Link>
        <Link to="/invitations/files">Latest files</Link>
      </p>
      <Section title="Why does this code fail?">
        <Explain key={data.explained?.text} explained={data.explained} />
      </Section>
      <Section title="All invitations">
        <InvitationList data={data} />
      </Section>
    </>
  );
}
