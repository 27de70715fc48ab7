import { AddressFields, type AddressOptions } from './address-fields.ts';
import { callApi, type PublicIntent } from './api.ts';
import type { ElementFields, Notify } from './element.ts';
import { ExpressFields } from './express-fields.ts';
import type { ExpressOptions } from './express-options.ts';
import { HELLO, MARGIN } from './frame-host.ts';
import { type CardInput, PaymentFields, type PaymentOptions } from './payment-fields.ts';
import { askCardholder } from './question.ts';
import type { Appearance } from './style.ts';
import type { Sheet } from './wallet.ts';

/** The page's first message, which defines what the frame is to show. */
interface Start {
  role: 'payment' | 'address' | 'expressCheckout' | 'question';
  key: string;
  options: object;
  appearance?: Appearance;
  hasAddress: boolean;
}

type Handlers = Record<string, (...args: never[]) => unknown>;

function handlersOf({ role, key, options, appearance, hasAddress }: Start, notify: Notify): Handlers {
  if (role === 'payment')
    return payment(new PaymentFields(notify, appearance, hasAddress, options as PaymentOptions), key);
  if (role === 'address') return address(new AddressFields(notify, appearance, options as AddressOptions));
  if (role === 'expressCheckout')
    return express(new ExpressFields(notify, appearance, options as ExpressOptions), key);
  return { ask: (intent: PublicIntent) => askCardholder(intent) };
}

function common(fields: ElementFields): Handlers {
  document.body.append(fields.root);
  return {
    validate: () => fields.validate()?.error,
    focusFault: () => fields.validate()?.control.focus(),
    focus: () => fields.focus(),
    blur: () => fields.blur(),
    clear: () => fields.clear(),
    restyle: (appearance: Appearance | undefined) => fields.restyle(appearance),
  };
}

function address(fields: AddressFields): Handlers {
  return {
    ...common(fields),
    update: (options: Partial<AddressOptions>) => fields.update(options),
    getValue: () => ({ complete: fields.complete, isNewAddress: true, value: fields.value }),
  };
}

function payment(fields: PaymentFields, key: string): Handlers {
  return {
    ...common(fields),
    update: () => {},
    arrange: (hasAddress: boolean) => fields.arrange(hasAddress),
    send: (path: string, params: object, billing: { address?: object }) => {
      const { place } = fields;
      const details = { ...billing, ...(place && { address: { ...place, ...billing.address } }) };
      return sendCard(key, path, params, fields.card, details);
    },
  };
}

function express(fields: ExpressFields, key: string): Handlers {
  return {
    ...common(fields),
    update: (options: Partial<ExpressOptions>) => fields.update(options),
    arrange: () => {},
    available: () => fields.available,
    answer: (sheet: Sheet | null) => fields.answer(sheet),
    fail: (message: string) => fields.settle(message),
    send: async (path: string, params: object, billing: object) => {
      const sent = await sendCard(key, path, params, fields.card, { ...fields.billing, ...billing });
      fields.settle(sent.error?.message);
      return sent;
    },
  };
}

/** Sends the card from the frame to the API, so that the page never sees it. */
function sendCard(key: string, path: string, params: object, card: CardInput, billing: object) {
  const method = { type: 'card', card, billing_details: billing };
  return path === 'payment_methods'
    ? callApi(key, 'POST', path, method)
    : callApi(key, 'POST', path, { ...params, payment_method_data: method });
}

window.addEventListener('message', ({ source, data, ports: [port] }: MessageEvent<Start>) => {
  if (source !== window.parent || !port) return;
  const notify: Notify = (name, event) => port.postMessage({ name, event });
  const handlers = handlersOf(data, notify);
  port.onmessage = async ({ data: { id, name, args } }) => {
    port.postMessage({ id, value: await handlers[name]?.(...(args as never[])) });
  };
  const sendHeight = () =>
    notify('height', { px: Math.ceil(document.body.getBoundingClientRect().height) + 2 * MARGIN });
  // Sends the height now and not only from the observer, since an observer does not run while the page is in the background.
  sendHeight();
  new ResizeObserver(sendHeight).observe(document.body);
});
document.body.style.margin = `${MARGIN}px`;
window.parent.postMessage(HELLO, '*');
