import { useCallback, useEffect, useRef, useState } from 'react';
import {
  displayPrice,
  donationError,
  fromDollars,
  parseDonation,
  shortPrice,
  toDollars,
} from '#core/money.ts';
import { Button, buttonClass } from '#ui/Button.tsx';
import { TextField } from '#ui/Field.tsx';
import { Form } from '#ui/Form.tsx';
import { Icon } from '#ui/icons.tsx';
import { Hint } from '#ui/Text.tsx';
import { useFocusRescue } from '#ui/useFocusRescue.ts';
import { typedDonation } from '../../lib/session.ts';
import { useSite } from '../../lib/site.ts';
import { ChangeError } from './ChangeError.tsx';
import type { CheckoutDetails, OrderProduct } from './order.ts';
import { useOrderChange } from './orderChange.ts';
import styles from './styles.module.css';

type Option = CheckoutDetails['donationOptions'][number];

const isFewer = (now: number, before: number) => now < before;

/** The preset donation amounts, a field for a custom amount, and the donations in the order. Several donations add up. */
export function Donations({ options, donations }: { options: Option[]; donations: OrderProduct[] }) {
  const { checkout, society } = useSite();
  const heading = useRef<HTMLHeadingElement>(null);
  const count = donations.length;
  // A pressed Remove button disappears with its donation. The focus then moves to the heading, unless the order summary has taken
  // it.
  const focusHeading = useCallback(() => heading.current?.focus({ preventScroll: true }), []);
  useFocusRescue(count, focusHeading, isFewer);
  return (
    <section className={styles.block} aria-labelledby="donations">
      <h2 id="donations" ref={heading} tabIndex={-1}>
        Add a donation
      </h2>
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
            isMore={count > 0}
          />
        ))}
      </div>
      {options.map(({ uuid }) => (
        <PresetError key={uuid} uuid={uuid} />
      ))}
      <Effects options={options} />
      <CustomDonation isMore={count > 0} />
      {society.deductibility && <Hint>{society.deductibility}</Hint>}
      {count > 0 && <Given donations={donations} />}
    </section>
  );
}

const presetKey = (uuid: string) => `donation-${uuid}`;

/**
 * A preset amount. `line` is the order's line with this donation, if there is one; the button then removes that line. `isMore`:
 * the order already has a donation, to which this amount would be added.
 */
function Preset({
  option,
  line,
  isMore,
}: {
  option: Option;
  line: OrderProduct | undefined;
  isMore: boolean;
}) {
  const { busy, change } = useOrderChange(presetKey(option.uuid));
  const amount = fromDollars(option.amount);
  const price = shortPrice(amount);
  const isAlso = isMore && !line;
  return (
    <button
      type="button"
      className={styles.preset}
      aria-label={isAlso ? `Also add ${price}` : `Donate ${price}`}
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
      {isAlso && <span className={styles.also}>Also add</span>}
      <span>{price}</span>
    </button>
  );
}

/** One line for each preset amount that says what it pays for, if the society's file says so. */
function Effects({ options }: { options: Option[] }) {
  const effects = options.flatMap(({ amount, does }) =>
    does ? [`${shortPrice(fromDollars(amount))} ${does}`] : [],
  );
  return effects.length > 0 && <Hint>{effects.join(' · ')}</Hint>;
}

/** The error of a preset amount, below all of them. */
function PresetError({ uuid }: { uuid: string }) {
  return <ChangeError error={useOrderChange(presetKey(uuid)).error} />;
}

/**
 * The sum of all donations in the order, custom amounts included, in one line. The line opens to a list in which each donation
 * can be removed.
 */
function Given({ donations }: { donations: OrderProduct[] }) {
  const sum = donations.reduce((cents, { priceCents }) => cents + priceCents, 0);
  return (
    <details className={styles.given}>
      <summary>{`Your donations: ${displayPrice(sum)}`}</summary>
      <ul>
        {donations.map((line) => (
          <GivenLine key={line.sessionProductUuid} line={line} />
        ))}
      </ul>
    </details>
  );
}

function GivenLine({ line: { sessionProductUuid, priceCents } }: { line: OrderProduct }) {
  const uuid = sessionProductUuid ?? '';
  const { busy, change, error } = useOrderChange(`given-${uuid}`);
  const price = displayPrice(priceCents);
  return (
    <li>
      <span>{price}</span>
      <button
        type="button"
        className={buttonClass({ variant: 'plain' })}
        aria-label={`Remove ${price}`}
        aria-busy={busy || undefined}
        onClick={() => change({ kind: 'removeDonation', sessionProductUuid: uuid })}
      >
        {busy ? 'Removing…' : 'Remove'}
      </button>
      <ChangeError error={error} />
    </li>
  );
}

function CustomDonation({ isMore }: { isMore: boolean }) {
  const { checkout } = useSite();
  const maximumCents = fromDollars(checkout.maximumDonation);
  const [typed, setTyped] = useState(() => typedDonation.recall() ?? '');
  const [isInvalid, setIsInvalid] = useState(false);
  const { busy, change, error, done } = useOrderChange('custom-donation');
  /** The text that was sent. After its amount was added, the field is cleared, unless another amount has been typed meanwhile. */
  const sent = useRef<string | null>(null);
  useEffect(() => {
    if (!done || sent.current === null) return;
    const isSame = sent.current === typed;
    sent.current = null;
    if (!isSame) return;
    setTyped('');
    typedDonation.drop();
  }, [done, typed]);

  return (
    <>
      <Form
        className={styles.custom}
        onSubmit={() => {
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
          unit="$"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            typedDonation.keep(event.target.value);
            setIsInvalid(false);
          }}
          error={
            // An alert, because the field already has the focus if Enter was pressed in it, so moving the focus would announce
            // nothing.
            isInvalid && <span role="alert">{donationError(typed, maximumCents)}</span>
          }
        />
        <Button type="submit" variant="second" busy={busy && 'Adding…'}>
          {isMore ? 'Also add donation' : 'Add donation'}
        </Button>
      </Form>
      <ChangeError error={isInvalid ? null : error} />
    </>
  );
}
