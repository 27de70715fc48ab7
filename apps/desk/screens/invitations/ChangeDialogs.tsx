import { useState } from 'react';
import { MOST_UNTYPED } from '#contract/deskLimits.ts';
import type { DeskBody } from '#contract/deskSchemas.ts';
import { isDay, NO_DAY } from '#core/day.ts';
import { TextField } from '#ui/Field.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';

export type Which = DeskBody<'withdrawInvitations'>['which'];

interface Props {
  which: Which;
  onClose: () => void;
}

/** A dialog that withdraws codes. */
export function WithdrawDialog({ which, onClose }: Props) {
  const [typed, setTyped] = useState('');
  return (
    <ActionDialog
      asked={{ name: 'withdrawInvitations', body: { which, typed: numberIn(typed) } }}
      title="Withdraw these codes?"
      done="The codes are withdrawn."
      onClose={onClose}
    >
      {mayBeMany(which) && <NumberField value={typed} onChange={setTyped} />}
    </ActionDialog>
  );
}

/** The proposed last day is this many days from now. */
const DAYS = 90;

/** A dialog that sets a later last day for codes. */
export function ExtendDialog({ which, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const [until, setUntil] = useState(() =>
    new Date(Date.now() + DAYS * 86_400_000).toISOString().slice(0, 10),
  );
  return (
    <ActionDialog
      asked={
        isDay(until) ? { name: 'extendInvitations', body: { which, until, typed: numberIn(typed) } } : null
      }
      title={'codes' in which && which.codes.length === 1 ? 'Extend this code?' : 'Extend these codes?'}
      done="The codes are extended."
      onClose={onClose}
    >
      <TextField
        id="until"
        label="Last day"
        type="date"
        error={isDay(until) ? null : NO_DAY}
        value={until}
        onChange={({ target }) => setUntil(target.value)}
      />
      {mayBeMany(which) && <NumberField value={typed} onChange={setTyped} />}
    </ActionDialog>
  );
}

const mayBeMany = (which: Which) => !('codes' in which) || which.codes.length > MOST_UNTYPED;

function numberIn(typed: string): number | null {
  const digits = typed.replace(/[\s,]/g, '');
  return /^\d{1,9}$/.test(digits) ? Number(digits) : null;
}

function NumberField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <TextField
      id="typed"
      label="Number of codes"
      hint={`Needed above ${MOST_UNTYPED} codes.`}
      inputMode="numeric"
      autoComplete="off"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
