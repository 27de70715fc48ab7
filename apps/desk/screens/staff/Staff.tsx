import { useState } from 'react';
import { useLoaderData } from 'react-router';
import { Button } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { CopyDialog } from '../../components/CopyDialog.tsx';
import { Section } from '../../components/Section.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { useMe } from '../../lib/me.ts';
import { counted } from '../../lib/words.ts';
import { Events } from './Events.tsx';
import type { Staff as Member, StaffData } from './loadStaff.ts';
import styles from './Staff.module.css';
import { ChangeRole, Invite } from './StaffForms.tsx';

type Open = { what: 'invite' } | { what: 'role' | 'link' | 'end'; member: Member };

/** The page Staff: who works at the desk, what they may do, and what they did. */
export function Staff() {
  const data = useLoaderData() as StaffData;
  const [open, setOpen] = useState<Open | null>(null);
  const [link, setLink] = useState<{ name: string; url: string } | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <PageHeading title="Staff" />
      <p className={styles.invite}>
        <Button slim onClick={() => setOpen({ what: 'invite' })}>
          Invite
        </Button>
      </p>
      <Members staff={data.staff} onOpen={setOpen} />
      <Section title="What staff did">
        <Events data={data} />
      </Section>
      {open?.what === 'invite' && <Invite onLink={setLink} onClose={close} />}
      {open?.what === 'role' && <ChangeRole member={open.member} onClose={close} />}
      {open?.what === 'link' && (
        <ActionDialog
          asked={{ name: 'makeStaffLink', body: { ...ofMember(open.member) } }}
          title={`Make a new sign-in link for ${open.member.name}?`}
          done="The link is made."
          onDone={({ url }) => setLink({ name: open.member.name, url })}
          onClose={close}
        />
      )}
      {open?.what === 'end' && (
        <ActionDialog
          asked={{ name: 'endStaffAccess', params: { id: String(open.member.id) }, body: {} }}
          title={`End the access of ${open.member.name}?`}
          done={`The access of ${open.member.name} has ended.`}
          onClose={close}
        />
      )}
      {link && (
        <CopyDialog title={`Sign-in link for ${link.name}`} text={link.url} onClose={() => setLink(null)}>
          <p>Send it to {link.name} alone. It is not shown again.</p>
        </CopyDialog>
      )}
    </>
  );
}

const ofMember = ({ id, name, email, role }: Member) => ({ id, name, email, role });

function Members({ staff, onOpen }: { staff: Member[]; onOpen: (open: Open) => void }) {
  const me = useMe();
  return (
    <table className={`${table.table} ${styles.staff}`}>
      <caption className="sr">Who is among the staff</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col">Passkeys</th>
          <th scope="col">Last seen</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {staff.map((member) => (
          <tr key={member.id}>
            <th scope="row" id={`staff-${member.id}`}>
              {member.name}
              {member.name === me.name && ' (you)'}
              <p className={styles.small}>{member.email}</p>
            </th>
            <td>
              {member.endedAt ? (
                <Tag>
                  ended <Time at={member.endedAt} day />
                </Tag>
              ) : (
                member.role
              )}
            </td>
            <td>
              {member.endedAt
                ? ''
                : member.passkeys === 0
                  ? 'no passkey'
                  : counted(member.passkeys, 'passkey')}
            </td>
            <td>
              <span className={styles.narrow}>Last seen: </span>
              {member.lastSeenAt ? <Time at={member.lastSeenAt} /> : 'never'}
            </td>
            <td>
              <div className={styles.actions}>
                {!member.endedAt &&
                  (
                    [
                      ['role', 'Change role'],
                      ['link', 'New sign-in link'],
                      ['end', 'End access'],
                    ] as const
                  ).map(([what, name]) => (
                    <Button
                      key={what}
                      variant="plain"
                      aria-describedby={`staff-${member.id}`}
                      onClick={() => onOpen({ what, member })}
                    >
                      {name}
                    </Button>
                  ))}
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
