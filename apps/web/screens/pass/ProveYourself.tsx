import { type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { cleanText } from '#core/cleanText.ts';
import { CODE_MINUTES } from '#core/pass.ts';
import { Alert, Note } from '../../components/Alert.tsx';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import ui from '../../components/ui.module.css';
import { call } from '../../lib/api.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import { enter } from './enter.ts';
import styles from './styles.module.css';

type Way = 'send' | 'code' | 'name';

/**
 * Shown when a letter's link is opened in a browser that does not hold the join. Shows no data of the joiner, because the letter
 * may have been forwarded to somebody else.
 */
export function ProveYourself({ token, opened }: { token: string; opened: Data<'openPass'> }) {
  const navigate = useNavigate();
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
  const proveByCode = () =>
    attempt('code', async () => {
      const join = await call('provePassByCode', { body: { token, code }, quiet: true });
      await navigate(enter(join), { replace: true });
    });
  const proveByName = () =>
    attempt('name', async () => {
      const join = await call('provePassByName', { body: { token, lastName, zipcode }, quiet: true });
      await navigate(enter(join), { replace: true });
    });
  const faultOf = (...ways: Way[]) =>
    fault && ways.includes(fault.way) && <Alert isAnswer>{fault.message}</Alert>;

  return (
    <>
      <p className={ui.lead}>
        This device is new to us. Before we show anything, please prove that the join behind your link is
        yours.
      </p>
      {isCodeSent ? (
        <Proof title="By a code" onSubmit={proveByCode}>
          <Note>
            A code of six digits is on its way to the email that was given for this join. It is good for{' '}
            {CODE_MINUTES} minutes, in this browser. Please look in your spam folder, too.
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
        <Proof title="By a code" onSubmit={sendCode}>
          <p>We mail six digits to the email that was given for this join.</p>
          <Button type="submit" full busy={busy === 'send' && 'Sending...'}>
            Email me a code
          </Button>
          {faultOf('send')}
        </Proof>
      )}
      {opened.hasDetails && (
        <Proof title="Or by last name and ZIP code" onSubmit={proveByName}>
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
    <form
      className={styles.way}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    >
      <h2>{title}</h2>
      {children}
    </form>
  );
}
