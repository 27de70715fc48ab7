import { useId, useRef, useState } from 'react';
import { Link } from 'react-router';
import { downloadPath } from '#contract/calls.ts';
import { verifyPath } from '#core/memberNumber.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { copyByHand, selectText, useCopy } from '#ui/Copy.tsx';
import { Checkbox, inputClass } from '#ui/Field.tsx';
import { Icon } from '#ui/icons.tsx';
import { Hint } from '#ui/Text.tsx';
import { call } from '../../lib/api.ts';
import { storedSession } from '../../lib/session.ts';
import { theSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import type { Papers as Given } from './share.ts';
import styles from './styles.module.css';

/**
 * The certificate and the press release. Under More: other paper sizes, the text of the press release, and the switch that lets
 * others verify the membership.
 */
export function Papers({
  papers: { number, problem },
  ...verification
}: {
  papers: Given;
  isVerifiable: boolean;
  onVerifiable: (isVerifiable: boolean) => void;
}) {
  const uuid = storedSession();
  if (!uuid) return null;
  const certificate = theSite().apiUrl + downloadPath('certificate', { uuid });
  const release = theSite().apiUrl + downloadPath('pressRelease', { uuid });
  return (
    <section className={`${styles.papers} ${styles.screenOnly}`} aria-labelledby="papers">
      <h2 id="papers">Your certificate and press release</h2>
      <p className={styles.intro}>
        Your member number is <strong className={styles.number}>{number}</strong>.
      </p>
      {problem ? (
        <Note>{problem}</Note>
      ) : (
        <div className={styles.downloads}>
          <a className={buttonClass()} href={certificate} download>
            <Icon name="file" size={18} />
            Certificate (PDF)
          </a>
          <a className={buttonClass({ variant: 'second' })} href={release} download>
            <Icon name="file" size={18} />
            Press release (PDF)
          </a>
        </div>
      )}
      <details className={styles.more}>
        <summary>More</summary>
        {!problem && (
          <p className={styles.small}>
            For another paper size: certificate on{' '}
            <a href={`${certificate}?paper=letter`} download>
              US Letter
            </a>{' '}
            or{' '}
            <a href={`${certificate}?paper=a4`} download>
              A4
            </a>
            .
          </p>
        )}
        <ReleaseText uuid={uuid} />
        <Verification uuid={uuid} number={number} {...verification} />
      </details>
    </section>
  );
}

/**
 * The press release as text, loaded when the element is opened. The text has to be loaded before Copy is pressed, because browsers
 * allow copying only directly after a press.
 */
function ReleaseText({ uuid }: { uuid: string }) {
  const [text, setText] = useState<string | null>(null);
  // Opening the element again loads the text again.
  const { fault, attempt } = useAttempt('We could not load the text. Please open it again.');
  const { outcome, copy, clear } = useCopy();
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const load = () =>
    attempt('load', async () => {
      clear();
      setText((await call('getPressRelease', { params: { uuid }, quiet: true })).text);
    });
  return (
    <details className={styles.releaseText} onToggle={(event) => event.currentTarget.open && void load()}>
      <summary>Copy the press release as text</summary>
      {fault && text === null && <Alert>{fault.message}</Alert>}
      {text !== null && (
        <>
          <label className="sr" htmlFor={id}>
            Text of the press release
          </label>
          <textarea ref={field} id={id} className={inputClass} readOnly rows={10} value={text} />
          <Button
            variant="second"
            slim
            onClick={async () => {
              if (!(await copy(text))) selectText(field.current);
            }}
          >
            <Icon name={outcome === 'copied' ? 'tick' : 'copy'} size={18} />
            Copy text
          </Button>
          <Hint isHidden={outcome !== 'failed'} role="status">
            {outcome === 'copied' ? 'Copied' : outcome === 'failed' && copyByHand.text}
          </Hint>
        </>
      )}
    </details>
  );
}

function Verification({
  uuid,
  number,
  isVerifiable,
  onVerifiable,
}: {
  uuid: string;
  number: string;
  isVerifiable: boolean;
  onVerifiable: (isVerifiable: boolean) => void;
}) {
  const { busy, fault, attempt } = useAttempt('That could not be saved. Please try again.');
  const change = (isWanted: boolean) =>
    attempt('save', async () => {
      onVerifiable(isWanted);
      try {
        await call('setVerification', { params: { uuid }, body: { isVerifiable: isWanted }, quiet: true });
      } catch (error) {
        onVerifiable(!isWanted);
        throw error;
      }
    });
  return (
    <Checkbox
      id="verifiable"
      role="switch"
      label="Let others verify my membership"
      checked={isVerifiable}
      aria-busy={busy !== null || undefined}
      error={fault?.message}
      onChange={(event) => void change(event.currentTarget.checked)}
      hint={
        isVerifiable ? (
          <span>
            Anyone with your number sees <Link to={verifyPath(number.replace('-', ''))}>this page</Link>: when
            you became a member and in which program, and nothing else about you.
          </span>
        ) : (
          'Anyone who looks up your number, even by the QR code on your certificate, is told that there is no such membership.'
        )
      }
    />
  );
}
