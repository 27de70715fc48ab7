import { useState } from 'react';
import { Link, useLoaderData } from 'react-router';
import { ifOffered, type LoadFailure } from '#client/failures.ts';
import { proofCalendarPath } from '#contract/calls.ts';
import { dayInWords } from '#core/day.ts';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { isHeld, type MembershipStanding } from '#core/refunds.ts';
import { Alert, Note } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { CopyByHand, useCopy } from '#ui/Copy.tsx';
import { Icon } from '#ui/icons.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Sentence } from '#ui/Sentence.tsx';
import { Lead, Stack } from '#ui/Text.tsx';
import { Card } from '../../components/Card.tsx';
import { Hero } from '../../components/Hero.tsx';
import { LoadFailed, LoadFailedPage } from '../../components/LoadFailed.tsx';
import { ProveYourself } from '../../components/ProveYourself.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { SupportEmail, SupportPhone } from '../../components/Support.tsx';
import { call, outcomeOf, requireSession } from '../../lib/api.ts';
import { cardName } from '../../lib/cardName.ts';
import { draft } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { type ToProve, withProof } from '../../lib/toProve.ts';
import { AskRefund, type RefundRequest } from './AskRefund.tsx';
import { CorrectEmail } from './CorrectEmail.tsx';
import { Papers } from './Papers.tsx';
import { Portrait } from './Portrait.tsx';
import { emailsGoTo, endingOf, newMember, noteOfRefund, type Welcome } from './sentences.ts';
import styles from './styles.module.css';

const MEMBER_ALONE = 'Only the member can see and print these. If that is you, please prove it first.';

interface Loaded {
  /** Null if it could not be loaded, or if another server does not have the call. */
  refund: RefundRequest | null;
  welcome: Welcome | null;
  failure: LoadFailure | null;
}

export async function loader(): Promise<Loaded> {
  const uuid = requireSession();
  const refund = call('getRefundRequest', { params: { uuid }, quiet: true }).catch(() => null);
  const outcome = await outcomeOf(
    ifOffered(withProof(call('getWelcome', { params: { uuid }, loading: true })), null),
    'We could not look up your membership.',
  );
  if ('kind' in outcome) return { welcome: null, failure: outcome, refund: null };
  draft.drop();
  return { welcome: outcome.data, failure: null, refund: await refund };
}

export function Component() {
  const { welcome, failure, refund } = useLoaderData() as Loaded;
  if (failure?.kind === 'lost') return <LoadFailedPage title="Congratulations" failure={failure} />;
  const [main] = welcome?.memberships ?? [];
  return (
    <Card>
      {welcome && main && !isHeld(main.standing) ? (
        <Ended welcome={welcome} name={main.name} standing={main.standing} />
      ) : (
        <Member welcome={welcome} failure={failure} />
      )}
      {refund && main && isHeld(main.standing) && <AskRefund loaded={refund} />}
      <Help />
    </Card>
  );
}

/** The page for a membership that has ended: the reason, the receipt, and Start Over. */
function Ended({
  welcome,
  name,
  standing,
}: {
  welcome: Welcome;
  name: string;
  standing: MembershipStanding;
}) {
  const { title, text } = endingOf(standing, name, welcome.firstName);
  return (
    <>
      <Hero className={styles.hero}>
        <PageHeading title={title} />
        <Lead>{text}</Lead>
      </Hero>
      <Notes welcome={welcome} />
      {welcome.rejection && <Alert>{welcome.rejection}</Alert>}
      <Receipt welcome={welcome} />
      <div className={styles.again}>
        <StartOver />
      </div>
    </>
  );
}

function Member({ welcome, failure }: Omit<Loaded, 'refund'>) {
  const { society, congratulations, apiUrl } = useSite();
  const { store } = congratulations;
  const papers = welcome?.papers;
  const certificate = papers?.certificate;
  // What was chosen on this page. It takes precedence, since the papers may be loaded after the choice.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isVerifiable = chosen ?? papers?.isVerifiable ?? false;
  const email = welcome?.unwritable?.email ?? welcome?.email;
  return (
    <>
      <Hero isLarge={!certificate} hasCrest={!certificate} className={styles.hero}>
        <PageHeading title="Congratulations" />
        <p className={styles.welcome}>Welcome to the society</p>
        {papers && certificate && (
          <Portrait certificate={certificate} papers={papers} isVerifiable={isVerifiable} />
        )}
        {welcome && <Lead>{newMember(welcome, society.name)}</Lead>}
      </Hero>
      {failure && <LoadFailed failure={failure} />}
      {welcome && <Notes welcome={welcome} />}
      {welcome?.rejection && !welcome.owesTranscript && <Alert>{welcome.rejection}</Alert>}
      {welcome?.owesTranscript && (
        <section className={styles.owed}>
          <Icon name="file" size={22} />
          <p>
            {welcome.rejection} One thing is still open:{' '}
            <Link to={screens.uploadTranscript}>upload your transcript</Link>
            {welcome.proofDue && <span>{` by ${dayInWords(welcome.proofDue)}`}</span>}.
            {welcome.proofDue && (
              <>
                {' '}
                <a href={apiUrl + proofCalendarPath(welcome.proofDue)}>Add to calendar</a>
              </>
            )}
          </p>
        </section>
      )}
      {papers && <Papers papers={papers} isVerifiable={isVerifiable} onVerifiable={setChosen} />}
      {welcome?.toProve && <PapersToProve {...welcome.toProve} />}
      <section className={`${styles.section} ${styles.screenOnly}`} aria-labelledby="emails">
        <h2 id="emails">What comes next</h2>
        <p className={styles.intro}>{(welcome && emailsGoTo(welcome)) ?? congratulations.lead}</p>
        {welcome?.unwritable && (
          <Stack>
            <Unwritable {...welcome.unwritable} />
          </Stack>
        )}
        {email && <CorrectEmail email={email} isUnwritable={Boolean(welcome?.unwritable)} />}
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
        <a className={buttonClass()} href={store.url}>
          Shop Now
        </a>
      </section>
      {welcome?.goods && welcome.goods.length > 0 && (
        <section className={`${styles.section} ${styles.screenOnly}`} aria-labelledby="goods">
          <h2 id="goods">Shipping</h2>
          {welcome.goods.map(({ name, state }) => (
            <p key={name}>{`Your ${name} ${state}.`}</p>
          ))}
        </section>
      )}
      {welcome && <Receipt welcome={welcome} />}
    </>
  );
}

/** Shown in place of the papers to somebody who paid by a checkout link and has not proven to be the member. */
function PapersToProve(toProve: ToProve) {
  const [isOpen, setOpen] = useState(toProve.opened.isCodeSent);
  return (
    <section className={`${styles.papers} ${styles.screenOnly}`} aria-labelledby="papers">
      <h2 id="papers">Certificate and press release</h2>
      {isOpen ? (
        <ProveYourself {...toProve} lead={MEMBER_ALONE} to={screens.congratulations} />
      ) : (
        <>
          <p className={styles.intro}>{MEMBER_ALONE}</p>
          <Button variant="second" onClick={() => setOpen(true)}>
            I am the member
          </Button>
        </>
      )}
    </section>
  );
}

/** The notes about refunded payments, a disputed membership and an ended upgrade. */
function Notes({ welcome: { refunded, memberships } }: { welcome: Welcome }) {
  const [main, ...upgrades] = memberships;
  const notes = refunded.map(noteOfRefund);
  if (main?.standing === 'disputed')
    notes.push(
      'Your bank has opened a dispute about the payment for your membership. You remain a member in the meantime.',
    );
  if (main && isHeld(main.standing))
    for (const { name, standing } of upgrades)
      if (!isHeld(standing))
        notes.push(
          standing === 'refunded'
            ? `Your ${name} was refunded. You remain a member.`
            : `Your ${name} has ended. You remain a member.`,
        );
  return (
    notes.length > 0 && (
      <div className={styles.told}>
        {notes.map((note, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they do not change while the page stands
          <Note key={index}>{note}</Note>
        ))}
      </div>
    )
  );
}

const UNWRITABLE =
  'We cannot send email to {email}. Your membership is safe. Please correct the email below, or tell us the right one at {support} or {phone}.';
const UNWRITABLE_BUT_ONE =
  'We cannot send email to {email}, so we write to {other}. Your membership is safe. Please correct the email below, or tell us the right one at {support} or {phone}.';

/** Says that the member's email address cannot be reached, and how to correct it. Shown where the page promises emails. */
function Unwritable({ email, writtenTo }: NonNullable<Welcome['unwritable']>) {
  const values = {
    email: <b>{email}</b>,
    other: <b>{writtenTo}</b>,
    support: <SupportEmail />,
    phone: <SupportPhone />,
  };
  return (
    <Alert>
      <Sentence text={writtenTo ? UNWRITABLE_BUT_ONE : UNWRITABLE} values={values} />
    </Alert>
  );
}

function Help() {
  return (
    <section className={styles.section} aria-labelledby="help">
      <h2 id="help">Questions?</h2>
      <p>
        Write to <SupportEmail /> or call <SupportPhone />.
      </p>
    </section>
  );
}

/** The receipt of the payments. When printed, the page shows only the receipt and the society's name and address. */
function Receipt({ welcome: { receipt, memberships } }: { welcome: Welcome }) {
  const { society } = useSite();
  if (!receipt || receipt.payments.length === 0) return null;
  // The name of the person who paid: the payer of a pay link, otherwise the member.
  const from = receipt.payments[0]?.paidBy || receipt.name;
  const names = new Intl.ListFormat('en').format(memberships.map(({ name }) => name));
  return (
    <section className={styles.receipt} aria-labelledby="receipt">
      <div className={styles.receiptHead}>
        <h2 id="receipt">Your receipt</h2>
        <Button variant="second" slim className={styles.print} onClick={() => window.print()}>
          Print receipt
        </Button>
      </div>
      <p>
        {from
          ? `${society.name} received from ${from}, for ${names}:`
          : `${society.name} received from you, for ${names}:`}
      </p>
      {receipt.payments.map(({ reference, paidAt, lines, amount, refunded, card, paidBy, notes }) => (
        <dl key={reference} className={styles.payment}>
          {lines.map(({ name, amount: price }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they do not change while the page stands
            <div key={index}>
              <dt>{name}</dt>
              <dd>{displayPrice(price)}</dd>
            </div>
          ))}
          <div className={styles.paid}>
            <dt>{paidBy ? `Paid by ${paidBy}` : card ? `Paid with ${cardName(card)}` : 'Paid'}</dt>
            <dd>{displayPrice(amount)}</dd>
          </div>
          {refunded > 0 && (
            <div>
              <dt>Refunded</dt>
              <dd>{displayPrice(refunded)}</dd>
            </div>
          )}
          <div className={styles.small}>
            <dt>{dayInWords(paidAt)}</dt>
            <dd>Reference {reference}</dd>
          </div>
          {notes?.map((note) => (
            <div key={note} className={styles.small}>
              <dt>{note}</dt>
              <dd />
            </div>
          ))}
        </dl>
      ))}
    </section>
  );
}

function CopyableCode({ code }: { code: string }) {
  const { outcome, copy } = useCopy();
  return (
    <div>
      <button
        type="button"
        className={styles.code}
        aria-label={`Copy the code ${code}`}
        onClick={() => void copy(code)}
      >
        <span>{code}</span>
        <Icon name={outcome === 'copied' ? 'tick' : 'copy'} size={18} />
      </button>
      <span className="sr" role="status">
        {outcome === 'copied' ? 'Copied' : ''}
      </span>
      {outcome === 'failed' && <CopyByHand what="code" text={code} />}
    </div>
  );
}
