import { make } from './dom.ts';
import { ElementFields, type Notify } from './element.ts';
import { Field } from './field.ts';
import { countriesOf, postalFault, regionsOf } from './regions.ts';
import type { Appearance } from './style.ts';

export interface AddressOptions {
  mode: 'billing' | 'shipping';
  allowedCountries?: string[] | null;
  defaultValues?: {
    name?: string | null;
    phone?: string | null;
    address?: Partial<Record<keyof Address, string | null>>;
  };
  fields?: { phone?: 'always' | 'never' | 'auto'; name?: 'never' | 'auto' };
}

export interface Address {
  line1: string;
  line2: string | null;
  city: string;
  state: string;
  postal_code: string;
  country: string;
}

export interface AddressValue {
  name: string;
  address: Address;
  phone?: string;
}

/**
 * The fields for name, address and, if the page asks for it, phone number. Only the countries that the page allows can be chosen.
 */
export class AddressFields extends ElementFields {
  readonly type = 'address';
  readonly #options: AddressOptions;
  readonly #fields: Record<'name' | 'country' | 'line1' | 'line2' | 'city' | 'postal_code' | 'phone', Field>;
  readonly #row: HTMLDivElement;
  #state: Field;

  constructor(notify: Notify, appearance: Appearance | undefined, options: AddressOptions) {
    super(notify, appearance);
    this.#options = options;
    const countries = countriesOf(options.allowedCountries);
    const section = options.mode;
    const field = (name: string, label: string, autocomplete: string, more = {}): Field =>
      new Field(
        { label, autocomplete: `${section} ${autocomplete}`, ...more },
        () => this.#changed(name),
        () => this.#left(name),
      );
    this.#fields = {
      name: field('name', 'Full name', 'name'),
      country: field('country', 'Country or region', 'country', { options: countries }),
      line1: field('line1', 'Address line 1', 'address-line1'),
      line2: field('line2', 'Address line 2', 'address-line2', {
        optional: true,
        placeholder: 'Apt., suite, unit number, etc. (optional)',
      }),
      city: field('city', 'City', 'address-level2'),
      postal_code: field('postal_code', 'ZIP code', 'postal-code'),
      phone: field('phone', 'Phone number', 'tel', { inputmode: 'tel' }),
    };
    this.#state = this.#makeState();
    this.#row = make('div', { class: 'Row' });
    this.#fill(options.defaultValues);
    const { name, country, line1, line2, phone } = this.#fields;
    if (options.fields?.name !== 'never') this.root.append(name.root);
    this.root.append(country.root, line1.root, line2.root, this.#row);
    if (options.fields?.phone === 'always') this.root.append(phone.root);
    // Like Stripe.js, reports the page's initial values as a change.
    this.#notify();
  }

  get value(): AddressValue {
    const { name, line1, line2, city, postal_code, country, phone } = this.#fields;
    return {
      name: name.value,
      address: {
        line1: line1.value,
        line2: line2.value || null,
        city: city.value,
        state: this.#state.value,
        postal_code: postal_code.value,
        country: country.value,
      },
      ...(this.#options.fields?.phone === 'always' && { phone: phone.value }),
    };
  }

  get complete(): boolean {
    return this.#shown().every(([, field]) => this.#faultOf(field) === undefined);
  }

  update(options: Partial<AddressOptions>): void {
    if (!options.defaultValues) return;
    this.#fill(options.defaultValues);
    this.#notify();
  }

  clear(): void {
    for (const [, field] of this.#shown()) {
      if (field !== this.#fields.country) field.value = '';
      field.showError(undefined);
    }
    this.#notify();
  }

  validate(): ReturnType<ElementFields['validate']> {
    let first: ReturnType<ElementFields['validate']>;
    for (const [name, field] of this.#shown()) {
      const message = this.#faultOf(field);
      field.showError(message);
      if (!message) continue;
      first ??= {
        error: { type: 'validation_error', code: `incomplete_${name}`, message },
        control: field.control,
      };
    }
    return first;
  }

  #shown(): [string, Field][] {
    const all: [string, Field][] = [...Object.entries(this.#fields), ['state', this.#state]];
    return all.filter(([, field]) => this.root.contains(field.root));
  }

  #faultOf(field: Field): string | undefined {
    const country = this.#fields.country.value;
    if (field === this.#fields.line2) return undefined;
    if (field === this.#state && regionsOf(country).length === 0) return undefined;
    if (field.value === '') return 'This field is incomplete.';
    return field === this.#fields.postal_code ? postalFault(country, field.value) : undefined;
  }

  #makeState(): Field {
    const regions = regionsOf(this.#fields.country.value);
    const label =
      this.#fields.country.value === 'CA'
        ? 'Province'
        : this.#fields.country.value === 'US'
          ? 'State'
          : 'State or region';
    return new Field(
      {
        label,
        autocomplete: `${this.#options.mode} address-level1`,
        ...(regions.length > 0 ? { options: [['', 'Select'] as const, ...regions] } : { optional: true }),
      },
      () => this.#changed('state'),
      () => this.#left('state'),
    );
  }

  /** Updates labels and state choices after the country has changed. The state of the former country is cleared. */
  #countryChanged(): void {
    this.#state = this.#makeState();
    this.#fields.postal_code.setLabel(this.#fields.country.value === 'US' ? 'ZIP code' : 'Postal code');
    this.#fields.postal_code.control.setAttribute(
      'inputmode',
      this.#fields.country.value === 'US' ? 'numeric' : 'text',
    );
    this.#fields.postal_code.showError(undefined);
    this.#row.replaceChildren(this.#fields.city.root, this.#state.root, this.#fields.postal_code.root);
  }

  #fill(values: AddressOptions['defaultValues']): void {
    const { address = {} } = values ?? {};
    if (values?.name != null) this.#fields.name.value = values.name;
    if (values?.phone != null) this.#fields.phone.value = values.phone;
    const { country } = this.#fields;
    const choices = [...(country.control as HTMLSelectElement).options].map((option) => option.value);
    if (address.country && choices.includes(address.country)) country.value = address.country;
    this.#countryChanged();
    for (const name of ['line1', 'line2', 'city', 'postal_code'] as const) {
      if (address[name] != null) this.#fields[name].value = address[name];
    }
    if (address.state != null) this.#setState(address.state);
  }

  /** Chooses the state with this code or name. */
  #setState(given: string): void {
    const region = regionsOf(this.#fields.country.value).find(
      ([code, name]) => code === given.toUpperCase() || name.toLowerCase() === given.toLowerCase(),
    );
    if (this.#state.control instanceof HTMLInputElement) this.#state.value = given;
    else if (region) this.#state.value = region[0];
  }

  #changed(name: string): void {
    if (name === 'country') this.#countryChanged();
    const field = this.#shown().find(([one]) => one === name)?.[1];
    if (field?.hasError && this.#faultOf(field) === undefined) field.showError(undefined);
    this.#notify();
  }

  #left(name: string): void {
    const field = this.#shown().find(([one]) => one === name)?.[1];
    if (field && field.value !== '') field.showError(this.#faultOf(field));
  }

  #notify(): void {
    const { name, address } = this.value;
    this.emit('change', {
      elementMode: this.#options.mode,
      empty: name === '' && address.line1 === '' && address.city === '' && address.postal_code === '',
      complete: this.complete,
      isNewAddress: true,
      value: this.value,
    });
  }
}
