import { useLoaderData, useRevalidator } from 'react-router';
import { displayPrice } from '#core/money.ts';
import { screens } from '#core/navigation.ts';
import { Note } from '#ui/Alert.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Sentence } from '#ui/Sentence.tsx';
import { Stack } from '#ui/Text.tsx';
import { ButtonLink } from '../../components/ButtonLink.tsx';
import { Card } from '../../components/Card.tsx';
import { StartOver } from '../../components/StartOver.tsx';
import { SupportEmail } from '../../components/Support.tsx';
import { TryAgain } from '../../components/TryAgain.tsx';
import { cardName } from '../../lib/cardName.ts';
import type { awaitPayment, Settled } from './awaitPayment.ts';

const NOT_COMPLETED = 'Your payment was not completed, and nothing was charged.';

/** Shown for a payment that did not redirect to the upgrade. */
export function Component() {
  const outcome = useLoaderData() as Awaited<ReturnType<typeof awaitPayment>>;
  const { revalidate, state } = useRevalidator();
  if ('settled' in outcome && outcome.settled.refunded)
    return <Refunded payment={outcome.settled.refunded} goOn={outcome.settled.goOn ?? null} />;
  const goOn = ('settled' in outcome && outcome.settled.goOn) || screens.checkout;
  return (
    <Card title="Payment">
      {'unknown' in outcome ? (
        <Stack key="unknown">
          <Note>{outcome.unknown.message}</Note>
          {outcome.unknown.retryMs !== undefined && (
            <TryAgain
              retryMs={outcome.unknown.retryMs}
              onTry={() => void revalidate()}
              busy={state !== 'idle'}
            />
          )}
          <ContinueLink goOn={goOn} />
        </Stack>
      ) : (
        <Stack key="settled">
          {goOn === screens.checkout && <Note>{NOT_COMPLETED}</Note>}
          <ContinueLink goOn={goOn} />
        </Stack>
      )}
    </Card>
  );
}

type RefundedPayment = NonNullable<Settled['refunded']>;

/** The sentences about the refund: first without a card, then with one. */
const returns = {
  withStaff: [
    'Your payment of {amount} has not been refunded yet. We are looking into it and will write to you.',
    'Your payment of {amount} has not been refunded to {card} yet. We are looking into it and will write to you.',
  ],
  returned: [
    'Your payment of {amount} was refunded in full. It usually takes 5 to 10 business days to show on your statement.',
    'Your payment of {amount} was refunded in full to {card}. It usually takes 5 to 10 business days to show on your statement.',
  ],
  returning: [
    'Your payment of {amount} is being refunded in full. It usually takes 5 to 10 business days to show on your statement.',
    'Your payment of {amount} is being refunded in full to {card}. It usually takes 5 to 10 business days to show on your statement.',
  ],
} as const;

function reasonOf({ kind, why }: RefundedPayment, isMember: boolean): string {
  if (why === 'other_amount')
    return 'This was not the amount of your order, so nothing was bought with it. You can pay for your order again.';
  if (kind !== 'join') return 'This upgrade was no longer available, so there is nothing to pay for it.';
  return isMember
    ? 'This membership had already been paid for, so there is nothing more to pay.'
    : 'This membership had already been paid for by another registration, so there is nothing more to pay.';
}

/** Shown for a payment that bought nothing and is refunded. */
function Refunded({ payment, goOn }: { payment: RefundedPayment; goOn: string | null }) {
  const { amount, card, isReturned, isWithStaff } = payment;
  const isMember = goOn !== null && goOn !== screens.checkout;
  const [plain, withCard] = returns[isWithStaff ? 'withStaff' : isReturned ? 'returned' : 'returning'];
  const values = {
    amount: <strong>{displayPrice(amount)}</strong>,
    card: card && <strong>{cardName(card)}</strong>,
  };
  return (
    <Card>
      <PageHeading title={isWithStaff ? 'Payment received' : 'Payment refunded'} takesFocus />
      <Stack>
        <Note>{reasonOf(payment, isMember)}</Note>
        <p>
          <Sentence text={card ? withCard : plain} values={values} />
        </p>
        <p>
          Is something wrong? Write to <SupportEmail />.
        </p>
        {isMember ? <ContinueLink goOn={goOn} /> : <StartOver />}
      </Stack>
    </Card>
  );
}

function ContinueLink({ goOn }: { goOn: string }) {
  return <ButtonLink to={goOn}>{goOn === screens.checkout ? 'Return to Checkout' : 'Continue'}</ButtonLink>;
}
