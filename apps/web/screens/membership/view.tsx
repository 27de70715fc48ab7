import { useState } from 'react';
import { preconnect } from 'react-dom';
import { useFetcher, useLoaderData } from 'react-router';
import { fromPrice, shortPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { paymentsHost } from '#core/paymentsHost.ts';
import { Button } from '#ui/Button.tsx';
import { Icon } from '#ui/icons.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Lead, Ticks } from '#ui/Text.tsx';
import { useErrorInTitle } from '#ui/title.ts';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import { CentredFault } from '../../components/CentredFault.tsx';
import { EligibilityRules } from '../../components/EligibilityRules.tsx';
import { BackLink, Foot } from '../../components/Foot.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { loadCleaner } from '../../components/Purified.tsx';
import { RefundNote } from '../../components/RefundNote.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { usePrefetch } from '../../lib/prefetch.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import type { action } from './action.ts';
import type { Details, loader } from './loader.ts';
import styles from './styles.module.css';

type Membership = Details['memberships'][number];

/** Downloads the code of Checkout, and the sanitizer that Checkout needs for product icons. */
const loadCheckout = () => Promise.all([lazyScreens.checkout.load(), loadCleaner()]);

export function Component() {
  const outcome = useLoaderData<typeof loader>();
  return (
    <Card wide>
      <ProgressBar current="Membership" />
      {'data' in outcome ? (
        <Choice details={outcome.data} />
      ) : (
        <>
          <PageHeading title="Membership" className={styles.heading} />
          <LoadFailed failure={outcome} isCentred />
        </>
      )}
      {!('kind' in outcome && outcome.kind === 'lost') && (
        <Foot>
          <BackLink to={screens.studentDetails}>Back</BackLink>
          {'data' in outcome && outcome.data.selectedMembershipId !== null && (
            <ButtonLink to={screens.checkout}>Continue to Checkout</ButtonLink>
          )}
          <StartOver />
        </Foot>
      )}
    </Card>
  );
}

function Choice({ details }: { details: Details }) {
  const { memberships, membershipPageHeader, membershipPageSubheader, refundNote, eligibility } = details;
  usePrefetch(loadCheckout);
  const { payments, hardship, changeOfMind } = useSite();
  // Only opens a connection to the host. The script itself is loaded on Checkout.
  preconnect(paymentsHost(payments));
  const fetcher = useFetcher<typeof action>();
  const [chosen, setChosen] = useState(details.selectedMembershipId);
  const busy = fetcher.state !== 'idle';
  const error = !busy && fetcher.data && 'error' in fetcher.data ? fetcher.data.error : null;
  useErrorInTitle(error !== null);
  return (
    <>
      <div className={styles.heading}>
        <PageHeading title="Membership">{membershipPageHeader}</PageHeading>
        <Lead>{membershipPageSubheader}</Lead>
        {eligibility?.inShort && (
          <p className={styles.inShort}>
            <a href="#eligibility">{eligibility.inShort}</a>
          </p>
        )}
      </div>
      <ul className={styles.cards} data-count={Math.min(memberships.length, 3)}>
        {memberships.map((membership) => (
          <MembershipCard
            key={membership.id}
            membership={membership}
            selected={membership.id === (error ? details.selectedMembershipId : chosen)}
            leadsOn={details.selectedMembershipId === null}
            busy={busy}
            onChoose={() => {
              setChosen(membership.id);
              void fetcher.submit(
                { membershipId: membership.id, amount: fromPrice(membership.price) },
                { method: 'post', encType: 'application/json' },
              );
            }}
          />
        ))}
      </ul>
      {/* The key makes each error a new element, which scrolls into view when it appears. */}
      {error && <CentredFault key={error} message={error} isAnswer />}
      <RefundNote text={refundNote} />
      <RefundNote text={changeOfMind} />
      <RefundNote text={hardship} />
      {eligibility && <EligibilityRules eligibility={eligibility} />}
    </>
  );
}

function MembershipCard({
  membership,
  selected,
  leadsOn,
  busy,
  onChoose,
}: {
  membership: Membership;
  selected: boolean;
  /** Whether this button is a main button. If a membership is chosen already, the main button is Continue to Checkout. */
  leadsOn: boolean;
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
      {membership.description && <p className={styles.description}>{membership.description}</p>}
      <p className={styles.price}>
        <span>{shortPrice(fromPrice(membership.price))}</span>
        <small>/one-time fee</small>
      </p>
      <Ticks className={styles.features}>
        {membership.features.map(({ id, description }) => (
          <li key={id}>{description}</li>
        ))}
      </Ticks>
      <Button
        full
        variant={selected || !leadsOn ? 'second' : 'main'}
        busy={busy && selected && says}
        disabled={busy}
        aria-label={`${says}: ${membership.name}`}
        onClick={onChoose}
      >
        {selected && <Icon name="tick" size={18} />}
        <span>{says}</span>
      </Button>
    </li>
  );
}
