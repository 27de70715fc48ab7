import type Stripe from 'stripe';
import { type Call, emit, mergeMetadata, orNull, require } from './call.ts';
import { newId, token } from './ids.ts';
import { given, page } from './lists.ts';
import { findPaymentMethod, keep } from './payment-methods.ts';
import type { ApiObject } from './store.ts';
import { checkEmail, checkLength } from './texts.ts';

type Customer = Stripe.Customer & ApiObject;

/** Parameters that are stored as the request has them. */
const TEXTS = ['description', 'email', 'name', 'phone'] as const;

export const CUSTOMER_PARAMS = ['address', ...TEXTS, 'expand', 'metadata', 'shipping', 'preferred_locales'];
export const CREATE_CUSTOMER_PARAMS = [...CUSTOMER_PARAMS, 'payment_method'];

export function createCustomer(call: Call): ApiObject {
  const { params } = call;
  checkTexts(call);
  const customer: Customer = {
    id: newId('cus').slice(0, 18),
    object: 'customer',
    address: address(params.address),
    balance: 0,
    created: call.now,
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: text(params.description),
    discount: null,
    email: text(params.email),
    invoice_prefix: token(8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: mergeMetadata({}, params.metadata),
    name: text(params.name),
    next_invoice_sequence: 1,
    phone: text(params.phone),
    preferred_locales: (orNull(params.preferred_locales) as string[] | null) ?? [],
    shipping: orNull(params.shipping) as Stripe.Customer['shipping'],
    tax_exempt: 'none',
    test_clock: null,
  };
  call.store.insert(customer);
  emit(call, 'customer.created', customer);
  const method = params.payment_method as string | undefined;
  if (method !== undefined) keep(call, findPaymentMethod(call, method, 'payment_method'), customer.id);
  return customer;
}

export function retrieveCustomer(call: Call): ApiObject {
  const id = call.ids.id!;
  if (call.store.setting(`deleted ${id}`)) return { id, object: 'customer', deleted: true };
  return require(call, 'customer', id, 'id');
}

export function updateCustomer(call: Call): ApiObject {
  const { params } = call;
  const before = require<Customer>(call, 'customer', call.ids.id!, 'id');
  checkTexts(call);
  const after: Customer = { ...before, metadata: mergeMetadata(before.metadata, params.metadata) };
  for (const name of TEXTS) if (params[name] !== undefined) after[name] = text(params[name]);
  if (params.address !== undefined) after.address = address(params.address);
  if (params.shipping !== undefined) after.shipping = orNull(params.shipping) as Stripe.Customer['shipping'];
  if (params.preferred_locales !== undefined) after.preferred_locales = params.preferred_locales as string[];
  call.store.save(after);
  const previous = changes(before, after);
  if (Object.keys(previous).length > 0) emit(call, 'customer.updated', after, previous);
  return after;
}

export function deleteCustomer(call: Call): ApiObject {
  const customer = require(call, 'customer', call.ids.id!, 'id');
  call.store.remove(customer.id);
  call.store.setSetting(`deleted ${customer.id}`, 'true');
  emit(call, 'customer.deleted', customer);
  return { id: customer.id, object: 'customer', deleted: true };
}

export function listCustomers(call: Call): object {
  return page(call, 'customer', '/v1/customers', given(call.params, 'email'));
}

function checkTexts({ params }: Call): void {
  checkEmail(params.email, 'email');
  checkLength(params.name, 'customer name', 'name');
  checkLength(params.description, 'customer description', 'description');
}

/** Returns the old values of the fields that have changed. */
function changes(before: ApiObject, after: ApiObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(before).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name])),
  );
}

function text(value: unknown): string | null {
  return orNull(value) as string | null;
}

/** Returns an address with every field; absent fields are null. */
export function address(value: unknown): Stripe.Address | null {
  if (value === undefined || value === '') return null;
  const given = value as Partial<Stripe.Address>;
  return {
    city: given.city ?? null,
    country: given.country ?? null,
    line1: given.line1 ?? null,
    line2: given.line2 ?? null,
    postal_code: given.postal_code ?? null,
    state: given.state ?? null,
  };
}
