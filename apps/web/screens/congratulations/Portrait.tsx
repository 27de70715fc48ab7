import { useRef, useState } from 'react';
import { downloadPath } from '#contract/calls.ts';
import { dayInWords } from '#core/day.ts';
import { verifyPath } from '#core/memberNumber.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { useAttempt } from '../../lib/useAttempt.ts';
import styles from './Portrait.module.css';
import { type Certificate, linkedInAddress, type Papers, pngOf, save, share } from './share.ts';

/**
 * A small picture of the certificate, with ways to share it. If there is no picture, for example because the letters of the name
 * cannot be printed, the frame contains the name.
 */
export function Portrait({
  certificate,
  papers: { number, problem },
  isVerifiable,
}: {
  certificate: Certificate;
  papers: Papers;
  isVerifiable: boolean;
}) {
  const { society, apiUrl } = useSite();
  const uuid = storedSession();
  const picture = useRef<HTMLImageElement>(null);
  const [isMissing, setMissing] = useState(problem !== null || uuid === null);
  const { busy, fault, attempt } = useAttempt('We could not make the picture. Please try again.');
  const { name, programme } = certificate;
  const since = dayInWords(certificate.since);
  const verifyUrl = window.location.origin + verifyPath(number.replace('-', ''));
  const canShare = typeof navigator.share === 'function';

  const show = () =>
    attempt('share', async () => {
      const png = await pngOf(picture.current);
      const text = `I am now a member of ${society.name}.`;
      if (canShare) await share({ text, url: isVerifiable ? verifyUrl : society.links.whoWeAre }, png);
      else if (png) save(png);
      else throw new Error('The picture has not loaded.');
    });
  return (
    <div className={styles.portrait}>
      {isMissing ? (
        <div className={styles.frame}>
          <p className={styles.name}>{name}</p>
          <p>{programme}</p>
          <p>{`Admitted ${since} · Member No. ${number}`}</p>
        </div>
      ) : (
        <img
          ref={picture}
          className={styles.picture}
          src={apiUrl + downloadPath('certificatePicture', { uuid: uuid! })}
          width={480}
          height={360}
          alt={`Certificate of ${name}, ${programme}, admitted ${since}, member number ${number}`}
          crossOrigin={apiUrl === '' ? undefined : 'use-credentials'}
          onError={() => setMissing(true)}
        />
      )}
      <div className={styles.ways}>
        {(canShare || !isMissing) && (
          <Button busy={busy !== null && 'One moment…'} onClick={() => void show()}>
            {canShare ? 'Share' : 'Save picture'}
          </Button>
        )}
        <a
          className={buttonClass({ variant: 'second' })}
          href={linkedInAddress(certificate, number, society.name, isVerifiable ? verifyUrl : null)}
        >
          Add to LinkedIn
        </a>
      </div>
      {fault && <Alert isAnswer>{fault.message}</Alert>}
    </div>
  );
}
