import { useState } from 'react';
import { isProviderEmail } from '#core/providerEmail.ts';
import { roleWords, type StaffRole, staffRoles } from '#core/staff.ts';
import { INVALID_EMAIL } from '#core/studentDetails.ts';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { SelectField } from '#ui/SelectField.tsx';
import { useForm } from '#ui/useForm.ts';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { Dialog, DialogButtons, DialogFields } from '../../components/Dialog.tsx';
import type { Staff } from './loadStaff.ts';

interface Invited {
  name: string;
  email: string;
  role: StaffRole;
}

const roles = staffRoles.map((role) => ({ value: role, label: role }));

function rules({ name, email }: Invited) {
  return {
    ...(name.trim() === '' && { name: 'Please enter a name.' }),
    ...(!isProviderEmail(email.trim()) && { email: INVALID_EMAIL }),
  };
}

/** The form to invite a new member of staff, which makes their first sign-in link. */
export function Invite({
  onLink,
  onClose,
}: {
  onLink: (link: { name: string; url: string }) => void;
  onClose: () => void;
}) {
  const form = useForm<Invited>({ name: '', email: '', role: 'staff' }, rules);
  const [isReady, setReady] = useState(false);
  const { values, errors, change } = form;
  if (isReady)
    return (
      <ActionDialog
        asked={{ name: 'makeStaffLink', body: { id: null, ...values } }}
        title={`Invite ${values.name}?`}
        done="The link is made."
        onDone={({ url }) => onLink({ name: values.name, url })}
        onClose={onClose}
      />
    );
  const goOn = () => setReady(Object.keys(form.check()).length === 0);
  return (
    <Dialog title="Invite" onClose={onClose}>
      <Form onSubmit={goOn}>
        <DialogFields>
          <TextField
            id="name"
            label="Name"
            autoComplete="off"
            maxLength={100}
            value={values.name}
            error={errors.name}
            onChange={({ target }) => change({ name: target.value })}
          />
          <TextField
            id="email"
            label="Email"
            type="email"
            autoComplete="off"
            maxLength={200}
            value={values.email}
            error={errors.email}
            onChange={({ target }) => change({ email: target.value })}
          />
          <RoleField role={values.role} onChange={(role) => change({ role })} />
        </DialogFields>
        <DialogButtons>
          <Button variant="second" slim onClick={onClose}>
            Cancel
          </Button>
          <Button slim type="submit">
            Continue
          </Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

/** A dialog to choose a new role for a member of staff. */
export function ChangeRole({ member, onClose }: { member: Staff; onClose: () => void }) {
  const [role, setRole] = useState<StaffRole>(staffRoles.find((each) => each !== member.role)!);
  return (
    <ActionDialog
      asked={{ name: 'setStaffRole', params: { id: String(member.id) }, body: { role } }}
      title={`Change the role of ${member.name}?`}
      done={`${member.name} has another role.`}
      onClose={onClose}
    >
      <RoleField role={role} onChange={setRole} not={member.role} />
    </ActionDialog>
  );
}

function RoleField({
  role,
  onChange,
  not,
}: {
  role: StaffRole;
  onChange: (role: StaffRole) => void;
  /** A role that is left out. */
  not?: StaffRole;
}) {
  return (
    <SelectField
      id="role"
      label="Role"
      hint={`They may ${roleWords[role]}`}
      options={roles.filter(({ value }) => value !== not)}
      value={role}
      onChange={({ target }) => onChange(target.value as StaffRole)}
    />
  );
}
