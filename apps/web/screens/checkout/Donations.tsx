import { useEffect, useRef, useState } from 'react';
import { displayPrice, fromDollars, parseDonation, shortPrice, toDollars } from '#core/money.ts';
import { LEAST_DONATION_CENTS } from '#core/specified.ts';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { Icon } from '../../components/icons.tsx';
import { drop, keep, recall } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { ChangeError } from './ChangeError.tsx';
import type { CheckoutDetails, OrderProduct } from './order.ts';
import { useOrderChange } from './orderChange.ts';
import styles from './styles.module.css';

type Option = CheckoutDetails['donationOptions'][number];

/** The preset donation amounts, and a field for a custom amount. */
export function Donations({ options, donations }: { options: Option[]; donations: OrderProduct[] }) {
  const { checkout } = useSite();
  return (
    <section className={styles.block} aria-labelledby="donations">
      <h2 id="donations">Add a donation</h2>
      <p className={styles.intro}>{checkout.donationIntro}</p>
      <div
        className={styles.presets}
        data-long={options.some(({ amount }) => amount > 999 || amount % 1) || undefined}
      >
        {options.map((option) => (
          <Preset
            key={option.uuid}
            option={option}
            line={donations.find(({ uuid }) => uuid === option.uuid)}
          />
        ))}
      </div>
      <CustomDonation />
    </section>
  );
}

/** A preset amount. `line` is the order's line with this donation; pressing the button again removes that line. */
function Preset({ option, line }: { option: Option; line: OrderProduct | undefined }) {
  const { busy, change, error } = useOrderChange(`donation-${option.uuid}`);
  const amount = fromDollars(option.amount);
  const price = shortPrice(amount);
  return (
    <>
      <button
        type="button"
        className={styles.preset}
        aria-label={`Donate ${price}`}
        aria-pressed={line !== undefined}
        aria-busy={busy || undefined}
        onClick={() =>
          change(
            line
              ? { kind: 'removeDonation', sessionProductUuid: line.sessionProductUuid ?? '' }
              : { kind: 'addDonation', body: { productUuid: option.uuid, amount } },
          )
        }
      >
        {line && <Icon name="tick" size={16} />}
        <span>{price}</span>
      </button>
      <ChangeError error={error} />
    </>
  );
}

function CustomDonation() {
  const { checkout } = useSite();
  const maximumCents = fromDollars(checkout.maximumDonation);
  const [typed, setTyped] = useState(() => recall<string>('joinDonation') ?? '');
  const [isInvalid, setIsInvalid] = useState(false);
  const { busy, change, error, done } = useOrderChange('custom-donation');
  /** What was sent. When it was added, the field is cleared, unless the next amount has been typed meanwhile. */
  const sent = useRef<string | null>(null);
  useEffect(() => {
    if (!done || sent.current === null) return;
    const isSame = sent.current === typed;
    sent.current = null;
    if (!isSame) return;
    setTyped('');
    drop('joinDonation');
  }, [done, typed]);

  return (
    <>
      <form
        noValidate
        className={styles.custom}
        onSubmit={(event) => {
          event.preventDefault();
          const cents = parseDonation(typed, maximumCents);
          setIsInvalid(cents === null);
          if (cents === null) document.getElementById('customAmount')?.focus();
          else if (!busy) {
            sent.current = typed;
            change({ kind: 'addCustomDonation', body: { amount: toDollars(cents) } });
          }
        }}
      >
        <TextField
          id="customAmount"
          name="customAmount"
          label="Custom amount"
          inputMode="decimal"
          autoComplete="off"
          enterKeyHint="done"
          placeholder="$"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            keep('joinDonation', event.target.value);
            setIsInvalid(false);
          }}
          error={
            // An alert, since the focus is in the field already if Enter was pressed there.
            isInvalid && (
              <span role="alert">
                {`Please enter an amount from ${displayPrice(LEAST_DONATION_CENTS)} to ${displayPrice(maximumCents)}.`}
              </span>
            )
          }
        />
        <Button type="submit" variant="second" busy={busy && 'Adding…'}>
          Add donation
        </Button>
      </form>
      <ChangeError error={isInvalid ? null : error} />
    </>
  );
}
