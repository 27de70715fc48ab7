import { useState } from 'react';
import { preconnect } from 'react-dom';
import {
  type ActionFunctionArgs,
  Link,
  redirect,
  type ShouldRevalidateFunctionArgs,
  useFetcher,
  useLoaderData,
} from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { fromPrice, shortPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { fallback, NO_SESSION_FOR_MEMBERSHIP } from '#core/sentences.ts';
import { Alert } from '../../components/Alert.tsx';
import { Icon } from '../../components/allIcons.tsx';
import { Button } from '../../components/Button.tsx';
import { Card } from '../../components/Card.tsx';
import { EligibilityRules } from '../../components/EligibilityRules.tsx';
import { GoOn } from '../../components/GoOn.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { Bone } from '../../components/Skeleton.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { LoadAgain } from '../../components/TryAgain.tsx';
import ui from '../../components/ui.module.css';
import { download, useAhead } from '../../lib/ahead.ts';
import { takeAnswer } from '../../lib/answerAhead.ts';
import { call, messageOf, type Outcome, outcomeOf, requireSession } from '../../lib/api.ts';
import { useArrived } from '../../lib/arrived.ts';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import styles from './styles.module.css';

type Details = Data<'getMembershipDetails'>;
type Membership = Details['memberships'][number];

/** With what cleans the pictures of its products. */
const fetchCheckout = () => Promise.all([download.checkout(), download.cleaner()]);

/** Where `loadStripe` has its script from. */
const PAYMENTS_HOST = 'https://js.stripe.com';

export function loader(): { details: Outcome<Details> | Promise<Outcome<Details>> } {
  const uuid = requireSession();
  const ahead = takeAnswer('getMembershipDetails', uuid);
  if (ahead) return { details: { data: ahead } };
  return {
    details: outcomeOf(
      call('getMembershipDetails', { params: { uuid }, loading: true }),
      fallback.getMembershipDetails,
    ),
  };
}

/** A refused choice leaves the cards as they are. */
export function shouldRevalidate({
  formMethod,
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  return formMethod === undefined && defaultShouldRevalidate;
}

export async function action({ request }: ActionFunctionArgs): Promise<Response | { error: string }> {
  const { membershipId } = (await request.json()) as { membershipId: number };
  const uuid = storedSession();
  if (!uuid) return { error: NO_SESSION_FOR_MEMBERSHIP };
  try {
    const { status } = await call('setMembership', { params: { uuid }, body: { membershipId } });
    if ((status as string) !== 'success') return { error: fallback.setMembership };
  } catch (error) {
    return { error: messageOf(error, fallback.setMembership) };
  }
  return redirect(screens.checkout);
}

export function Component() {
  const { details } = useLoaderData<typeof loader>();
  return (
    <Card wide>
      <ProgressBar current="Membership" />
      <Loaded details={details} />
    </Card>
  );
}

/** Comes with the cards, so that it has one place. */
function Foot() {
  return (
    <div className={ui.foot}>
      <Link className={ui.plain} to={screens.studentDetails}>
        <Icon name="arrowLeft" size={18} />
        Back
      </Link>
      <StartOver />
    </div>
  );
}

function Loaded({ details }: ReturnType<typeof loader>) {
  const outcome = useArrived(details);
  if (!outcome) return <Placeholder />;
  if ('goOn' in outcome) return <GoOn to={outcome.goOn} />;
  if ('message' in outcome) {
    return (
      <>
        <PageHeading title="Membership" />
        <div className={ui.stack}>
          {outcome.isLost ? (
            <Alert>{outcome.message}</Alert>
          ) : (
            <LoadAgain message={outcome.message} retryMs={outcome.retryMs} />
          )}
        </div>
        <Foot />
      </>
    );
  }
  return <Choice details={outcome.data} />;
}

function Choice({ details }: { details: Details }) {
  const { memberships, membershipPageHeader, membershipPageSubheader, refundNote, eligibility } = details;
  useAhead(fetchCheckout);
  const { payments } = useSite();
  // Only its connection: Checkout alone loads the provider's script.
  preconnect(payments.scriptUrl === null ? PAYMENTS_HOST : new URL(payments.scriptUrl).origin);
  const fetcher = useFetcher<typeof action>();
  const [chosen, setChosen] = useState(details.selectedMembershipId);
  const busy = fetcher.state !== 'idle';
  const error = !busy && fetcher.data && 'error' in fetcher.data ? fetcher.data.error : null;
  return (
    <>
      <div className={styles.heading}>
        <PageHeading title="Membership">{membershipPageHeader}</PageHeading>
        <p className={ui.lead}>{membershipPageSubheader}</p>
      </div>
      <ul className={styles.cards} data-count={Math.min(memberships.length, 3)}>
        {memberships.map((membership) => (
          <MembershipCard
            key={membership.id}
            membership={membership}
            selected={membership.id === (error ? details.selectedMembershipId : chosen)}
            busy={busy}
            onChoose={() => {
              setChosen(membership.id);
              void fetcher.submit(
                { membershipId: membership.id },
                { method: 'post', encType: 'application/json' },
              );
            }}
          />
        ))}
      </ul>
      <p className={styles.error} role="alert">
        {error}
      </p>
      <p className={`${ui.refund} ${styles.refund}`}>
        <Icon name="shield" size={18} />
        {refundNote}
      </p>
      <EligibilityRules eligibility={eligibility} />
      <Foot />
    </>
  );
}

function MembershipCard({
  membership,
  selected,
  busy,
  onChoose,
}: {
  membership: Membership;
  selected: boolean;
  busy: boolean;
  onChoose: () => void;
}) {
  const says = selected ? 'Selected' : 'Choose this membership';
  return (
    <li className={styles.card} data-selected={selected || undefined}>
      {selected && (
        <span className={styles.badge}>
          <Icon name="tick" size={16} />
        </span>
      )}
      <h2>{membership.name}</h2>
      <p className={styles.description}>{membership.description}</p>
      <p className={styles.price}>
        <span>{shortPrice(fromPrice(membership.price))}</span>
        <small>/one-time fee</small>
      </p>
      <ul className={`${ui.ticks} ${styles.features}`}>
        {membership.features.map(({ id, description }) => (
          <li key={id}>{description}</li>
        ))}
      </ul>
      <Button
        full
        look={selected ? 'second' : 'main'}
        disabled={busy}
        aria-label={`${says}: ${membership.name}`}
        onClick={onChoose}
      >
        {selected && <Icon name="tick" size={18} />}
        {says}
      </Button>
    </li>
  );
}

/** Two cards of the size of what comes (specification, section 2). */
function Placeholder() {
  return (
    <div role="status" aria-busy="true" data-waiting>
      <PageHeading title="Membership" className="sr" />
      <span className="sr">Loading…</span>
      <div className={styles.heading}>
        <Bone className={styles.boneHeading} />
        <Bone className={styles.boneLead} />
      </div>
      <div className={styles.cards} data-count="2">
        {['first', 'second'].map((key) => (
          <div className={styles.card} key={key}>
            <Bone className={styles.boneName} />
            <Bone className={styles.boneDescription} />
            <Bone className={styles.bonePrice} />
            <div className={`${ui.ticks} ${styles.features}`}>
              <Bone />
              <Bone />
              <Bone />
              <Bone />
            </div>
            <Bone className={styles.boneButton} />
          </div>
        ))}
      </div>
    </div>
  );
}
