import { useState } from 'react';
import { redirect, useLoaderData } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { call, outcomeOf, requireSession } from '../api.ts';
import { Alert, Note } from '../components/Alert.tsx';
import { Button } from '../components/Button.tsx';
import { Card } from '../components/Card.tsx';
import { Crest } from '../components/Crest.tsx';
import { Icon } from '../components/icons.tsx';
import { Link } from '../components/Link.tsx';
import { Lost } from '../components/Lost.tsx';
import { PageHeading } from '../components/PageHeading.tsx';
import ui from '../components/ui.module.css';
import { drop } from '../session.ts';
import { phoneLink, useSite } from '../site.ts';
import styles from './congratulations.module.css';

type Welcome = Data<'getWelcome'>;

interface Loaded {
  welcome: Welcome | null;
  error: string | null;
  isLost: boolean;
}

export async function loader(): Promise<Loaded | Response> {
  const uuid = requireSession();
  const outcome = await outcomeOf(
    call('getWelcome', { params: { uuid }, loading: true }),
    'We could not look up your membership just now.',
  );
  if ('goOn' in outcome) return redirect(outcome.goOn);
  if ('message' in outcome) return { welcome: null, error: outcome.message, isLost: outcome.isLost };
  drop('joinDraft');
  return { welcome: outcome.data, error: null, isLost: false };
}

export function Component() {
  const { society, congratulations } = useSite();
  const { welcome, error, isLost } = useLoaderData() as Loaded;
  const { store } = congratulations;
  if (isLost && error) return <Lost title="Congratulations" message={error} />;
  return (
    <Card>
      <header className={styles.hero}>
        <Crest large />
        <PageHeading title="Congratulations" className={styles.title} />
        <p className={styles.welcome}>Welcome to the society</p>
        {welcome && (
          <p className={ui.lead}>
            {welcome.firstName ? `${welcome.firstName}, you` : 'You'} are now a member of {society.name}.
          </p>
        )}
      </header>
      {error && <Alert>{error}</Alert>}
      {welcome && welcome.refunded.length > 0 && (
        <div className={styles.told}>
          {welcome.refunded.map(({ kind, amount, isReturned }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they do not change while the page stands
            <Note key={index}>
              A second payment of {displayPrice(amount)} for this {kind === 'join' ? 'membership' : 'upgrade'}{' '}
              was received and {isReturned ? 'has been' : 'is being'} refunded in full.
            </Note>
          ))}
        </div>
      )}
      {welcome?.rejection && !welcome.owesTranscript && <Alert>{welcome.rejection}</Alert>}
      {welcome?.owesTranscript && (
        <section className={styles.owed}>
          <Icon name="file" size={22} />
          <p>
            {welcome.rejection} One thing is still open:{' '}
            <Link to={screens.uploadTranscript}>upload your transcript</Link>.
          </p>
        </section>
      )}
      <section className={`${styles.section} ${styles.screenOnly}`} aria-labelledby="emails">
        <h2 id="emails">What comes next</h2>
        <p className={styles.intro}>{congratulations.lead}</p>
        <ol className={styles.emails}>
          {congratulations.emails.map(({ title, text, when }) => (
            <li key={title}>
              <div>
                <h3>{title}</h3>
                <p>{text}</p>
              </div>
              <p className={styles.when}>{when}</p>
            </li>
          ))}
        </ol>
      </section>
      <section className={styles.store} aria-labelledby="store">
        <div className={styles.storeWords}>
          <h2 id="store">{store.title}</h2>
          <p>{store.text.replaceAll('{discount}', `${store.discountPercent}%`)}</p>
        </div>
        <CopyableCode code={store.code} />
        <a className={ui.button} href={store.url}>
          Shop Now
        </a>
      </section>
      {welcome?.receipt && <Receipt receipt={welcome.receipt} membership={welcome.membership} />}
      <section className={styles.section} aria-labelledby="help">
        <h2 id="help">Questions?</h2>
        <p>
          Write to <a href={`mailto:${society.supportEmail}`}>{society.supportEmail}</a> or call{' '}
          <a href={phoneLink(society.supportPhone)}>{society.supportPhone}</a>.
        </p>
      </section>
    </Card>
  );
}

/** What was paid. Printed, the page is this and the society's name and address. */
function Receipt({ receipt, membership }: { receipt: NonNullable<Welcome['receipt']>; membership: string }) {
  const { society } = useSite();
  if (receipt.payments.length === 0) return null;
  return (
    <section className={styles.receipt} aria-labelledby="receipt">
      <div className={styles.receiptHead}>
        <h2 id="receipt">Your receipt</h2>
        <Button look="second" className={styles.print} onClick={() => window.print()}>
          Print receipt
        </Button>
      </div>
      <p>
        {society.name} received from {receipt.name || 'you'}, for {membership}:
      </p>
      {receipt.payments.map(({ reference, paidAt, lines, amount, refunded, card }) => (
        <dl key={reference} className={styles.payment}>
          {lines.map(({ name, amount: price }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they do not change while the page stands
            <div key={index}>
              <dt>{name}</dt>
              <dd>{displayPrice(price)}</dd>
            </div>
          ))}
          <div className={styles.paid}>
            <dt>Paid{card && ` with ${card.brand} ending ${card.last4}`}</dt>
            <dd>{displayPrice(amount)}</dd>
          </div>
          {refunded > 0 && (
            <div>
              <dt>Refunded</dt>
              <dd>{displayPrice(refunded)}</dd>
            </div>
          )}
          <div className={styles.small}>
            <dt>{new Date(paidAt).toLocaleDateString('en-US', { dateStyle: 'long' })}</dt>
            <dd>{reference}</dd>
          </div>
        </dl>
      ))}
    </section>
  );
}

function CopyableCode({ code }: { code: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div>
      <button
        type="button"
        className={styles.code}
        aria-label={`Copy the code ${code}`}
        onClick={() => {
          navigator.clipboard?.writeText(code).then(
            () => setCopied(true),
            () => setCopied(false),
          );
        }}
      >
        <span>{code}</span>
        <Icon name={copied ? 'tick' : 'copy'} size={18} />
      </button>
      <span className="sr" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </div>
  );
}
