import { useCallback, useState } from 'react';
import type { DeskDone } from '#contract/deskSchemas.ts';
import { displayPrice } from '#core/money.ts';
import { TextField } from '#ui/Field.tsx';
import { Radios } from '#ui/Radios.tsx';
import { SelectField } from '#ui/SelectField.tsx';
import { ActionDialog } from '../../../components/ActionDialog.tsx';
import { PartFailed } from '../../../components/Failed.tsx';
import { call } from '../../../lib/call.ts';
import { useLoaded } from '../../../lib/useLoaded.ts';
import type { PersonData } from '../loadPerson.ts';
import { MadeLink } from './MadeLink.tsx';

type Kind = 'start' | 'checkout' | 'resume';

/** A dialog that makes a link to a page for the person's contact, and then shows it with its QR code. */
export function MakeLink({ person, onClose }: { person: PersonData; onClose: () => void }) {
  const { data, error, tryAgain } = useLoaded(
    useCallback((signal) => call('getLinkProducts', { signal }), []),
  );
  const [kind, setKind] = useState<Kind>('start');
  const [product, setProduct] = useState<number | null>(null);
  const [dollars, setDollars] = useState('');
  const [upgrade, setUpgrade] = useState<number | null>(null);
  const [days, setDays] = useState('30');
  const [made, setMade] = useState<DeskDone<'makeLink'> | null>(null);
  if (made) return <MadeLink made={made} onClose={onClose} />;
  const sold = data?.products.find(({ id }) => id === product) ?? data?.products[0];
  const isCheckout = kind === 'checkout';
  const isReady = /^[1-9]\d{0,4}$/.test(days) && (!isCheckout || sold !== undefined);
  return (
    <ActionDialog
      asked={
        isReady
          ? {
              name: 'makeLink',
              params: { id: String(person.id) },
              body: {
                kind,
                product: isCheckout ? sold!.id : null,
                dollars: isCheckout ? dollars : '',
                upgrade: isCheckout ? upgrade : null,
                days: Number(days),
              },
            }
          : null
      }
      title="Make a link"
      done="The link is made."
      onDone={setMade}
      onClose={onClose}
      staysOpen
    >
      <Radios
        name="kind"
        legend="It is to"
        value={kind}
        onChange={(chosen) => setKind(chosen as Kind)}
        options={[
          { value: 'start', label: 'Start a join' },
          { value: 'checkout', label: 'Sell a membership or an upgrade (checkout)' },
          { value: 'resume', label: 'Upload a resume' },
        ]}
      />
      {isCheckout && error !== undefined && <PartFailed error={error} isTrying={false} onTry={tryAgain} />}
      {isCheckout && data && sold && (
        <>
          <SelectField
            id="product"
            label="Product"
            value={String(sold.id)}
            options={data.products.map(({ id, name, priceCents }) => ({
              value: String(id),
              label: `${name}, ${displayPrice(priceCents)}`,
            }))}
            onChange={({ target }) => setProduct(Number(target.value))}
          />
          <TextField
            id="dollars"
            label="Price in dollars"
            optional
            inputMode="decimal"
            autoComplete="off"
            hint={`Without one it costs ${displayPrice(sold.priceCents)}. The lowest is ${displayPrice(sold.floorCents)}.`}
            value={dollars}
            onChange={({ target }) => setDollars(target.value)}
          />
          <SelectField
            id="upgrade"
            label="Upgrade that is offered afterwards"
            optional
            value={upgrade === null ? '' : String(upgrade)}
            placeholder="That of the product"
            options={data.upgrades.map(({ id, name, priceCents }) => ({
              value: String(id),
              label: `${name}, ${displayPrice(priceCents)}`,
            }))}
            onChange={({ target }) => setUpgrade(target.value === '' ? null : Number(target.value))}
          />
        </>
      )}
      <TextField
        id="days"
        label="Days"
        inputMode="numeric"
        autoComplete="off"
        hint="How long the link works."
        value={days}
        error={isReady || isCheckout ? undefined : 'Enter a number of days, such as 30.'}
        onChange={({ target }) => setDays(target.value.trim())}
      />
    </ActionDialog>
  );
}
