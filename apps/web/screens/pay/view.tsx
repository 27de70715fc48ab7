import { useState } from 'react';
import { useLoaderData, useParams, useRevalidator } from 'react-router';
import { ALREADY_PAID } from '#core/joinSession.ts';
import { displayPrice } from '#core/money.ts';
import { screenTitles } from '#core/navigation.ts';
import { NOT_PAYABLE, PAID_MEANWHILE } from '#core/payLink.ts';
import { Note } from '#ui/Alert.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { Sentence } from '#ui/Sentence.tsx';
import { Lead, Stack, Ticks } from '#ui/Text.tsx';
import { Card } from '../../components/Card.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { PurifiedHtml } from '../../components/Purified.tsx';
import { RefundNote } from '../../components/RefundNote.tsx';
import { SocietyFacts } from '../../components/SocietyFacts.tsx';
import { SupportEmail, SupportPhone } from '../../components/Support.tsx';
import { TryAgain } from '../../components/TryAgain.tsx';
import { useSite } from '../../lib/site.ts';
import type { loader, PayOrder, PayPage } from './loader.ts';
import { PayForm } from './PayForm.tsx';
import type { Ended } from './pay.ts';
import styles from './styles.module.css';

/**
 * The page on which somebody else pays for a join. It knows only the joiner's first name and initial, the programme and the
 * order.
 */
export function Component() {
  const { page, ended: returned } = useLoaderData<typeof loader>();
  const [now, setNow] = useState<Ended | null>(null);
  const ended = now ?? returned;
  if (ended?.is === 'paid') return <Paid receipt={ended.receipt} page={'data' in page ? page.data : null} />;
  if (ended?.is === 'refunded') return <Refunded />;
  if (!('data' in page))
    return (
      <Card title={screenTitles.pay}>
        <LoadFailed failure={page} />
      </Card>
    );
  return <Open page={page.data} ended={ended} onEnd={setNow} />;
}

function Open({
  page,
  ended,
  onEnd,
}: {
  page: PayPage;
  ended: Ended | null;
  onEnd: (ended: Ended | null) => void;
}) {
  const { token = '' } = useParams();
  const { revalidate, state } = useRevalidator();
  const { society } = useSite();
  const { order, name, firstName } = page;
  return (
    <Card>
      <PageHeading title={screenTitles.pay}>
        {firstName ? `Pay for ${firstName}'s membership` : 'Pay for a membership'}
      </PageHeading>
      {!order ? (
        <Stack>
          <Note>
            {page.status !== 'paid' ? NOT_PAYABLE : ended?.is === 'changed' ? PAID_MEANWHILE : ALREADY_PAID}
          </Note>
          {page.status !== 'paid' && (
            <TryAgain retryMs={0} onTry={() => void revalidate()} busy={state !== 'idle'} />
          )}
          <Society />
        </Stack>
      ) : (
        <>
          <Lead>
            <Sentence
              text="{name} asks you to pay for this membership in {programme}, at {society}."
              values={{
                name: name ?? 'Someone',
                programme: page.programme,
                society: <a href={society.links.whoWeAre}>{society.name}</a>,
              }}
            />
          </Lead>
          <Order order={order} />
          <RefundNote text={page.refundNote} />
          <SocietyFacts>
            <Society />
          </SocietyFacts>
          <PayForm
            token={token}
            order={order}
            guardianConsent={page.guardianConsent}
            ended={ended}
            onEnd={async (end) => {
              onEnd(end);
              if (end?.is === 'changed') await revalidate();
            }}
            onAskAgain={() => void revalidate().then(() => onEnd(null))}
            isAsking={state !== 'idle'}
          />
        </>
      )}
    </Card>
  );
}

/** The lines of the order, its total, and what the membership includes. */
function Order({ order }: { order: PayOrder }) {
  return (
    <section className={styles.block} aria-labelledby="order">
      <h2 id="order">What you are paying for</h2>
      <Lines {...order} />
      {order.features.length > 0 && (
        <Ticks>
          {order.features.map(({ id, description }) => (
            <li key={id}>
              <PurifiedHtml html={description} />
            </li>
          ))}
        </Ticks>
      )}
    </section>
  );
}

function Lines({ lines, total }: Pick<PayOrder, 'lines' | 'total'>) {
  return (
    <dl className={styles.lines}>
      {lines.map(({ name, amount }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two donations may have one name and one amount
        <div key={index}>
          <dt>{name}</dt>
          <dd>{displayPrice(amount)}</dd>
        </div>
      ))}
      <div>
        <dt>Total</dt>
        <dd>{`${displayPrice(total)} USD`}</dd>
      </div>
    </dl>
  );
}

function Society() {
  return (
    <p>
      <Sentence
        text="Questions? Write to {email} or call {phone}."
        values={{ email: <SupportEmail />, phone: <SupportPhone /> }}
      />
    </p>
  );
}

function Paid({
  receipt,
  page,
}: {
  receipt: Extract<Ended, { is: 'paid' }>['receipt'];
  page: PayPage | null;
}) {
  return (
    <Card>
      <PageHeading title={screenTitles.pay} takesFocus>
        Thank you
      </PageHeading>
      <Lead>
        {page?.firstName
          ? `You have paid for ${page.firstName}'s membership. Their own page continues by itself.`
          : 'You have paid for the membership. The student’s own page continues by itself.'}
      </Lead>
      <Lines {...receipt} />
      <Stack>
        {receipt.email && <p>{`A receipt is on its way to ${receipt.email}.`}</p>}
        <p>{`Reference: ${receipt.reference}`}</p>
        {receipt.notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
        <p>You can close this window.</p>
        <Society />
      </Stack>
    </Card>
  );
}

function Refunded() {
  return (
    <Card>
      <PageHeading title={screenTitles.pay} takesFocus>
        Your payment is being refunded
      </PageHeading>
      <Stack>
        <Note>Someone else had already paid for this membership, so your payment is not needed.</Note>
        <p>
          All of it is refunded to your card. It usually takes 5 to 10 business days to show on your
          statement.
        </p>
        <Society />
      </Stack>
    </Card>
  );
}
