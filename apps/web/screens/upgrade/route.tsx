import { useEffect, useRef, useState } from 'react';
import { Link, type LoaderFunctionArgs, useLoaderData, useNavigate, useRevalidator } from 'react-router';
import type { Data } from '#contract/schemas.ts';
import { displayPrice, fromPrice, shortPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { fallback, NO_PAYMENT_INTENT, NO_SESSION_FOR_UPGRADE } from '#core/sentences.ts';
import { Alert } from '../../components/Alert.tsx';
import { Icon } from '../../components/allIcons.tsx';
import { Button } from '../../components/Button.tsx';
import { Card } from '../../components/Card.tsx';
import { Crest } from '../../components/Crest.tsx';
import { GoOn } from '../../components/GoOn.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { loadCleaner, PurifiedHtml } from '../../components/Purified.tsx';
import { Bone } from '../../components/Skeleton.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { LoadAgain } from '../../components/TryAgain.tsx';
import ui from '../../components/ui.module.css';
import { download, useAhead } from '../../lib/ahead.ts';
import { ApiError, call, messageOf, type Outcome, outcomeOf, requireSession } from '../../lib/api.ts';
import { useArrived } from '../../lib/arrived.ts';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { type Bought, buyWithOtherCard, buyWithSavedCard, type Purchase } from './buy.ts';
import { celebrate } from './celebrate.ts';
import { OTHER_CARD, OtherCard } from './OtherCard.tsx';
import styles from './styles.module.css';

type Answer = Data<'getUpgradeDetails'>;
/** What the specification does not name: `refundNote`, `card` and `goOn` may be missing. */
type Specified = Omit<Answer, 'card' | 'refundNote' | 'goOn'> & Partial<Answer>;
type Details = Specified & Pick<Answer, 'card' | 'goOn'>;

/** Without our own fields the screen follows the specification (section 4): self-nominators go on to their transcript. */
function whole(answer: Specified): Details {
  const goOn = answer.goOn ?? (answer.isSelfNomination ? screens.uploadTranscript : screens.congratulations);
  return { ...answer, goOn, card: answer.card ?? null };
}

export function loader({ request }: LoaderFunctionArgs) {
  const uuid = requireSession();
  return {
    paymentIntent: new URL(request.url).searchParams.get('payment_intent'),
    details: outcomeOf(
      withCleaner(call('getUpgradeDetails', { params: { uuid }, loading: true })),
      fallback.getUpgradeDetails,
    ),
  };
}

/** The features are HTML: they come together with what cleans them. */
async function withCleaner<T>(loading: Promise<T>): Promise<T> {
  const [data] = await Promise.all([loading, loadCleaner()]);
  return data;
}

export function Component() {
  const { details, paymentIntent } = useLoaderData<typeof loader>();
  return (
    <Card>
      <Loaded details={details} paymentIntent={paymentIntent} />
    </Card>
  );
}

function Loaded({
  details,
  paymentIntent,
}: {
  details: Promise<Outcome<Answer>>;
  paymentIntent: string | null;
}) {
  const outcome = useArrived(details);
  if (!outcome) return <Placeholder />;
  if ('goOn' in outcome) return <GoOn to={outcome.goOn} />;
  if ('message' in outcome) {
    return (
      <>
        <PageHeading title="Upgrade Membership" />
        <div className={ui.stack}>
          {outcome.isLost ? (
            <>
              <Alert>Error: {outcome.message}</Alert>
              <StartOver />
            </>
          ) : (
            <>
              <LoadAgain message={`Error: ${outcome.message}`} retryMs={outcome.retryMs} />
              <Link className={ui.plain} to={screens.congratulations}>
                Continue without the upgrade
              </Link>
            </>
          )}
        </div>
      </>
    );
  }
  const offered = whole(outcome.data);
  const { isEligibleForUpgrade, upgradeOption, goOn } = offered;
  if (!isEligibleForUpgrade || !upgradeOption) return <GoOn to={goOn} />;
  return <Offer details={offered} option={upgradeOption} paymentIntent={paymentIntent} />;
}

function Offer({
  details,
  option,
  paymentIntent,
}: {
  details: Details;
  option: NonNullable<Details['upgradeOption']>;
  paymentIntent: string | null;
}) {
  const { society } = useSite();
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  const [busy, setBusy] = useState<'upgrade' | 'skip' | null>(null);
  const [error, setError] = useState<string | null>(paymentIntent ? null : NO_PAYMENT_INTENT);
  /** After a refusal the same payment takes another card. */
  const [otherCard, setOtherCard] = useState<string | null>(null);
  const [isOther, setIsOther] = useState(false);
  const [isReady, setIsReady] = useState(false);
  const atWork = useRef(false);
  useAhead(details.goOn === screens.congratulations ? download.congratulations : download.uploadTranscript);
  useEffect(() => celebrate([society.colours.gold, society.colours.red], styles.confetti ?? ''), [society]);

  const amount = fromPrice(option.price);
  const saved = details.card && `${details.card.brand} ending ${details.card.last4}`;

  async function upgrade(buy: (purchase: Purchase) => Promise<Bought>) {
    if (atWork.current) return;
    const uuid = storedSession();
    if (!uuid) return setError(NO_SESSION_FOR_UPGRADE);
    if (!paymentIntent) return setError(NO_PAYMENT_INTENT);
    atWork.current = true;
    setBusy('upgrade');
    setError(null);
    try {
      const bought = await buy({ uuid, paymentIntent, amount });
      if (bought === true) return await navigate(details.goOn, { replace: true });
      setError(bought.message);
      setOtherCard(bought.clientSecret);
      // Another client secret is another, empty form.
      if (bought.clientSecret !== otherCard) setIsReady(false);
      if (bought.clientSecret === null) setIsOther(false);
    } catch (failure) {
      setError(messageOf(failure, fallback.upgrade));
      // Another price, or no offer any more: the screen shows what is true.
      if (failure instanceof ApiError && failure.status === 409) await revalidate();
    }
    atWork.current = false;
    setBusy(null);
  }

  /** Leads on even when the server could not note it. */
  async function skip() {
    if (atWork.current) return;
    atWork.current = true;
    setBusy('skip');
    const uuid = storedSession();
    const { goOn } = uuid
      ? await call('skipUpgrade', { params: { uuid }, body: {} }).catch(() => details)
      : details;
    await navigate(goOn, { replace: true });
  }

  return (
    <>
      <header className={styles.celebration}>
        <Crest large />
        <PageHeading title="Upgrade Membership">{details.congratulationsHeader}</PageHeading>
        <p className={ui.lead}>{details.congratulationsSubheader}</p>
      </header>
      <section className={styles.offer} aria-labelledby="offer">
        <h2 id="offer">{details.upgradeHeader}</h2>
        <p className={styles.sub}>{details.upgradeSubheader}</p>
        <ul className={`${ui.ticks} ${styles.features}`}>
          {details.features.map(({ id, description }) => (
            <li key={id}>
              <PurifiedHtml html={description} />
            </li>
          ))}
        </ul>
        <dl className={styles.terms}>
          <div>
            <dt>{option.name}</dt>
            <dd>
              <strong>{shortPrice(fromPrice(option.price))}</strong>
              <small>/one-time fee</small>
            </dd>
          </div>
          {(isOther || saved) && (
            <div>
              <dt>Charged to</dt>
              <dd>{isOther ? 'the card below' : saved}</dd>
            </div>
          )}
        </dl>
        {otherCard && isOther && (
          <OtherCard
            clientSecret={otherCard}
            saved={saved}
            disabled={busy !== null}
            onReady={() => setIsReady(true)}
            onBack={() => {
              setIsOther(false);
              setIsReady(false);
              setError(null);
            }}
            onError={setError}
            onPay={(stripe, elements) =>
              void upgrade((purchase) =>
                buyWithOtherCard(purchase, { stripe, elements, clientSecret: otherCard }),
              )
            }
          />
        )}
        {error && <Alert>{error}</Alert>}
        {otherCard && !isOther && (
          <Button
            full
            look="second"
            className={styles.useOther}
            disabled={busy !== null}
            onClick={() => {
              setIsOther(true);
              setError(null);
            }}
          >
            <Icon name="card" size={20} />
            Use another card
          </Button>
        )}
        <div className={styles.choice}>
          <Button look="second" disabled={busy !== null} onClick={() => void skip()}>
            Skip
          </Button>
          {isOther ? (
            <Button
              key="other"
              type="submit"
              form={OTHER_CARD}
              busy={busy === 'upgrade' && 'Upgrading...'}
              disabled={busy !== null || !isReady}
            >
              Pay {displayPrice(amount)}
            </Button>
          ) : (
            <Button
              key="saved"
              busy={busy === 'upgrade' && 'Upgrading...'}
              disabled={busy !== null}
              onClick={() => void upgrade(buyWithSavedCard)}
            >
              Upgrade Now
            </Button>
          )}
        </div>
        {details.refundNote && (
          <p className={ui.refund}>
            <Icon name="shield" size={18} />
            {details.refundNote}
          </p>
        )}
      </section>
    </>
  );
}

/** The size of the offer that comes. */
function Placeholder() {
  return (
    <div role="status" aria-busy="true" data-waiting>
      <PageHeading title="Upgrade Membership" className="sr" />
      <span className="sr">Loading…</span>
      <div className={styles.celebration}>
        <Crest large />
        <Bone className={styles.boneHeading} />
        <Bone className={styles.boneLead} />
      </div>
      <div className={styles.offer}>
        <Bone className={styles.boneHeading} />
        <div className={`${ui.ticks} ${styles.features}`}>
          <Bone />
          <Bone />
          <Bone />
          <Bone />
        </div>
        <Bone className={styles.boneTerms} />
        <Bone className={styles.boneButton} />
      </div>
    </div>
  );
}
