import { useEffect, useRef, useState } from 'react';
import { useLoaderData, useNavigate, useRevalidator } from 'react-router';
import { ApiError, type LoadFailure, messageOf } from '#client/failures.ts';
import { displayPrice, fromPrice, shortPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { fallback, NO_PAYMENT_INTENT, NO_SESSION_FOR_UPGRADE } from '#core/sentences.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Icon } from '#ui/icons.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Lead, Ticks } from '#ui/Text.tsx';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import { Hero } from '../../components/Hero.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { PurifiedHtml } from '../../components/Purified.tsx';
import { RefundNote } from '../../components/RefundNote.tsx';
import { call } from '../../lib/api.ts';
import { cardName } from '../../lib/cardName.ts';
import { usePrefetch } from '../../lib/prefetch.ts';
import { storedSession } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { lazyScreens } from '../lazyScreens.tsx';
import { askForCard, type Bought, buyWithOtherCard, buyWithSavedCard, type Purchase } from './buy.ts';
import { celebrate } from './celebrate.ts';
import type { loader, Offered } from './loader.ts';
import { OTHER_CARD, OtherCard } from './OtherCard.tsx';
import styles from './styles.module.css';

export function Component() {
  const { offered, paymentIntent } = useLoaderData<typeof loader>();
  return (
    <Card>
      {'data' in offered ? (
        <Offer details={offered.data} paymentIntent={paymentIntent} />
      ) : (
        <Failure failure={offered} />
      )}
    </Card>
  );
}

function Failure({ failure }: { failure: LoadFailure }) {
  return (
    <>
      <PageHeading title="Upgrade Membership" />
      <LoadFailed failure={{ ...failure, message: `Error: ${failure.message}` }}>
        <ButtonLink variant="plain" to={screens.congratulations}>
          Continue without the upgrade
        </ButtonLink>
      </LoadFailed>
    </>
  );
}

function Offer({ details, paymentIntent }: { details: Offered; paymentIntent: string | null }) {
  const { upgradeOption: option } = details;
  const { society } = useSite();
  const navigate = useNavigate();
  const { revalidate } = useRevalidator();
  const [busy, setBusy] = useState<'upgrade' | 'skip' | null>(null);
  const [error, setError] = useState<string | null>(paymentIntent ? null : NO_PAYMENT_INTENT);
  /** The client secret for paying with another card after the saved card was refused; null if there is none. */
  const [otherCard, setOtherCard] = useState<string | null>(null);
  const [isOther, setIsOther] = useState(false);
  const [isReady, setIsReady] = useState(false);
  const isWorking = useRef(false);
  const { congratulations, uploadTranscript } = lazyScreens;
  usePrefetch(details.goOn === screens.congratulations ? congratulations.load : uploadTranscript.load);
  useEffect(() => celebrate([society.colours.gold, society.colours.red], styles.confetti ?? ''), [society]);

  const amount = fromPrice(option.price);
  const saved = details.card ? cardName(details.card) : null;

  async function upgrade(buy: (purchase: Purchase) => Promise<Bought>) {
    if (isWorking.current) return;
    const uuid = storedSession();
    if (!uuid) return setError(NO_SESSION_FOR_UPGRADE);
    if (!paymentIntent) return setError(NO_PAYMENT_INTENT);
    isWorking.current = true;
    setBusy('upgrade');
    setError(null);
    try {
      const bought = await buy({ uuid, paymentIntent, amount });
      if (bought === true) return await navigate(details.goOn, { replace: true });
      setError(bought.message);
      setOtherCard(bought.clientSecret);
      // A different client secret mounts a new form, which is not ready yet.
      if (bought.clientSecret !== otherCard) setIsReady(false);
      if (bought.clientSecret === null) setIsOther(false);
      else if (details.needsCard) setIsOther(true);
    } catch (failure) {
      setError(messageOf(failure, fallback.upgrade));
      // On a conflict (409) the price or the offer has changed, so the offer is loaded again.
      if (failure instanceof ApiError && failure.status === 409) await revalidate();
    }
    isWorking.current = false;
    setBusy(null);
  }

  /** Declines the upgrade and continues, even if the call fails. */
  async function skip() {
    if (isWorking.current) return;
    isWorking.current = true;
    setBusy('skip');
    const uuid = storedSession();
    const { goOn } = uuid
      ? await call('skipUpgrade', { params: { uuid }, body: {} }).catch(() => details)
      : details;
    await navigate(goOn, { replace: true });
  }

  return (
    <>
      <Hero isLarge>
        <PageHeading title="Upgrade Membership">{details.congratulationsHeader}</PageHeading>
        <Lead>{details.congratulationsSubheader}</Lead>
      </Hero>
      <section className={styles.offer} aria-labelledby="offer">
        <h2 id="offer">{details.upgradeHeader}</h2>
        <p className={styles.sub}>{details.upgradeSubheader}</p>
        <Ticks className={styles.features}>
          {details.features.map(({ id, description }) => (
            <li key={id}>
              <PurifiedHtml html={description} />
            </li>
          ))}
        </Ticks>
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
            isOnly={details.needsCard === true}
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
        {error && <Alert isAnswer={paymentIntent !== null}>{error}</Alert>}
        {otherCard && !isOther && !details.needsCard && (
          <Button
            full
            variant="second"
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
          <Button variant="second" disabled={busy !== null} onClick={() => void skip()}>
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
              {`Pay ${displayPrice(amount)}`}
            </Button>
          ) : (
            <Button
              key="saved"
              busy={busy === 'upgrade' && 'Upgrading...'}
              disabled={busy !== null}
              onClick={() => void upgrade(details.needsCard ? askForCard : buyWithSavedCard)}
            >
              Upgrade Now
            </Button>
          )}
        </div>
        <RefundNote text={details.refundNote} />
      </section>
    </>
  );
}
