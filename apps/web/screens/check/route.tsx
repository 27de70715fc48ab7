import { useEffect, useRef, useState } from 'react';
import type { Answered } from '#contract/schemas.ts';
import { dayInWords } from '#core/day.ts';
import { screenTitles } from '#core/navigation.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { Sentence } from '#ui/Sentence.tsx';
import { Lead } from '#ui/Text.tsx';
import { Card } from '../../components/Card.tsx';
import { Facts, SocietyFacts } from '../../components/SocietyFacts.tsx';
import { SupportEmail, SupportPhone } from '../../components/Support.tsx';
import { call } from '../../lib/api.ts';
import { useSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import styles from './styles.module.css';

type Checked = Answered<'checkInvitation'>;

const FAILED = 'We could not check this. Please try again.';

/** The title for each kind of code or link of ours. */
const kinds: Partial<Record<Checked['is'], string>> = {
  code: 'A personal invite code',
  'school code': 'The invite code of a school',
  link: 'A personal invitation by link',
  checkout: 'A link to pay for a membership',
  pay: 'A link with which a student asks someone to pay',
  join: 'A student’s own link to their registration',
  resume: 'A link to upload a resume',
};

/** The title and text for each kind of text that is not ours. `{society}` and `{host}` are filled in. */
const refusals: Partial<Record<Checked['is'], [title: string, text: string]>> = {
  unknown: [
    '{society} did not send this code.',
    'Please compare it with your invitation. If you typed it correctly, do not pay anyone, and let us know.',
  ],
  elsewhere: [
    'This is not our address.',
    'Invitations and payments for {society} are at {host} and nowhere else. Please do not enter anything there, and let us know.',
  ],
  broken: [
    'This does not look like a link we sent.',
    'It may be cut off, or it may have ended. Please paste all of it, or ask us for a new one.',
  ],
  unread: ['This is neither an invite code nor a link.', 'Please copy it exactly as you received it.'],
};

/** The page where anybody can check whether a code or a link is the society's, what it leads to and what it costs. */
export function Component() {
  const { society } = useSite();
  const [text, setText] = useState('');
  const [checked, setChecked] = useState<Checked | null>(null);
  const { busy, fault, attempt } = useAttempt<'check'>(FAILED);
  const check = () =>
    attempt('check', async () => {
      setChecked(null);
      setChecked(await call('checkInvitation', { body: { text }, quiet: true }));
    });
  return (
    <Card title={screenTitles.check}>
      <Lead>{`Enter the invite code you received, or paste the link. We will tell you whether ${society.name} sent it, and where it leads.`}</Lead>
      <Form className={styles.form} onSubmit={() => void check()}>
        <TextField
          id="checked"
          label="Invite code or link"
          value={text}
          onChange={({ target }) => setText(target.value)}
          autoComplete="off"
          required
        />
        <div className={styles.submit}>
          <Button type="submit" full disabled={text.trim() === ''} busy={busy !== null && 'Checking…'}>
            Check
          </Button>
          {fault && <Alert isAnswer>{fault.message}</Alert>}
        </div>
      </Form>
      {checked && <Answer checked={checked} />}
      <SocietyFacts />
    </Card>
  );
}

function Answer({ checked }: { checked: Checked }) {
  const { society } = useSite();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const refusal = refusals[checked.is];
  const values = { society: society.name, host: window.location.host };
  const ours = checked.holds ? '{society} sent this.' : '{society} sent this, but it does not work any more.';
  const title = refusal?.[0] ?? (checked.is === 'page' ? 'This is a page of {society}.' : ours);
  const rows: [string, string | null | undefined][] = [
    ['What it is', kinds[checked.is]],
    ['Program', checked.programme],
    [checked.holds ? 'Works until' : 'Worked until', checked.until && dayInWords(checked.until)],
    [
      'Costs',
      checked.price && (checked.is === 'checkout' ? checked.price : `From ${checked.price}, one-time fee`),
    ],
    ['Refund', checked.refund],
  ];
  return (
    <section className={styles.answer} data-ours={!refusal || undefined} aria-labelledby="answer">
      <h2 id="answer" ref={heading} tabIndex={-1}>
        <Sentence text={title} values={values} />
      </h2>
      {refusal && (
        <p>
          <Sentence text={refusal[1]} values={values} />
        </p>
      )}
      {!refusal && <Facts rows={rows} />}
      <p>
        <Sentence
          text="Not sure? Write to {email} or call {phone}."
          values={{ email: <SupportEmail />, phone: <SupportPhone /> }}
        />
      </p>
    </section>
  );
}
