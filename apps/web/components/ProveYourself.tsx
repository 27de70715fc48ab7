import { type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { cleanText } from '#core/cleanText.ts';
import { CODE_MINUTES } from '#core/pass.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { Lead } from '#ui/Text.tsx';
import { call } from '../lib/api.ts';
import { enter } from '../lib/enterJoin.ts';
import { useSite } from '../lib/site.ts';
import type { ToProve } from '../lib/toProve.ts';
import { useAttempt } from '../lib/useAttempt.ts';
import styles from './ProveYourself.module.css';
import { SupportEmail } from './Support.tsx';

type Way = 'send' | 'code' | 'name';

/**
 * The forms in which a user proves to be the joiner. Shown in a browser that opens a letter's link and does not hold the join,
 * and to the holder of a checkout link. Shows no data of the joiner, because somebody else may have either link. `lead` says why
 * proof is needed. After the proof, the screen `to` is opened, or without `to` the screen of the letter's link.
 */
export function ProveYourself({ token, opened, lead, to }: ToProve & { lead: string; to?: string }) {
  const navigate = useNavigate();
  const { sendsLetters } = useSite();
  const [isCodeSent, setCodeSent] = useState(opened.isCodeSent);
  const [code, setCode] = useState('');
  const [lastName, setLastName] = useState('');
  const [zipcode, setZipcode] = useState('');
  const { busy, fault, attempt } = useAttempt<Way>('An error occurred. Please try again.');

  const sendCode = () =>
    attempt('send', async () => {
      await call('sendPassCode', { body: { token }, quiet: true });
      setCodeSent(true);
      setCode('');
    });
  const goOn = (join: Data<'provePassByCode'>) => {
    const entered = enter(join);
    return navigate(to ?? entered, { replace: true });
  };
  const proveByCode = () =>
    attempt('code', async () => goOn(await call('provePassByCode', { body: { token, code }, quiet: true })));
  const proveByName = () =>
    attempt('name', async () =>
      goOn(await call('provePassByName', { body: { token, lastName, zipcode }, quiet: true })),
    );
  // A server that sends no letters cannot mail codes.
  if (!sendsLetters && !opened.hasDetails)
    return (
      <Lead>
        {lead} Please write to <SupportEmail />.
      </Lead>
    );
  const faultOf = (...ways: Way[]) =>
    fault && ways.includes(fault.way) && <Alert isAnswer>{fault.message}</Alert>;

  return (
    <>
      <Lead>{lead}</Lead>
      {isCodeSent ? (
        <Proof title="With a code" onSubmit={proveByCode}>
          <Note>
            A six-digit code is on its way to the address on file. It is good for {CODE_MINUTES} minutes, in
            this browser. Please look in your spam folder, too.
          </Note>
          <TextField
            id="code"
            name="code"
            label="Six-digit code"
            value={code}
            onChange={(event) => setCode(event.target.value)}
            inputMode="numeric"
            autoComplete="one-time-code"
            enterKeyHint="go"
            maxLength={12}
            required
          />
          <Button
            type="submit"
            full
            disabled={code.replaceAll(/\s/g, '').length !== 6}
            busy={busy === 'code' && 'Looking...'}
          >
            Continue with the code
          </Button>
          {faultOf('code', 'send')}
          <Button variant="plain" onClick={sendCode} busy={busy === 'send' && 'Sending...'}>
            Email me another code
          </Button>
        </Proof>
      ) : (
        <Proof title="With a code" onSubmit={sendCode}>
          <p>We will email a six-digit code to the address on file.</p>
          <Button type="submit" full busy={busy === 'send' && 'Sending...'}>
            Email me a code
          </Button>
          {faultOf('send')}
        </Proof>
      )}
      {opened.hasDetails && (
        <Proof title="Or with your last name and ZIP code" onSubmit={proveByName}>
          <div className={styles.pair}>
            <TextField
              id="lastName"
              name="lastName"
              label="Last name"
              value={lastName}
              onChange={(event) => setLastName(event.target.value)}
              autoComplete="family-name"
              autoCapitalize="words"
              required
            />
            <TextField
              id="zipcode"
              name="zipcode"
              label="ZIP code"
              value={zipcode}
              onChange={(event) => setZipcode(event.target.value)}
              autoComplete="postal-code"
              autoCapitalize="characters"
              enterKeyHint="go"
              required
            />
          </div>
          <Button
            type="submit"
            variant="second"
            full
            disabled={!cleanText(lastName) || !cleanText(zipcode)}
            busy={busy === 'name' && 'Looking...'}
          >
            Continue with name and ZIP code
          </Button>
          {faultOf('name')}
        </Proof>
      )}
    </>
  );
}

function Proof({
  title,
  onSubmit,
  children,
}: {
  title: string;
  onSubmit: () => unknown;
  children: ReactNode;
}) {
  return (
    <Form className={styles.way} onSubmit={onSubmit}>
      <h2>{title}</h2>
      {children}
    </Form>
  );
}
