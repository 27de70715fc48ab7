type Attributes = Record<string, string | boolean | undefined>;

/** Makes an element. Attributes that are `false` or absent are left out. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children);
  return node;
}

let ids = 0;

/** Returns an id that no other element of the page has. */
export function freshId(): string {
  ids += 1;
  return `emulated-stripe-${ids}`;
}

/** Thrown when the page's own code misuses the interface, as Stripe.js throws it. */
export class IntegrationError extends Error {
  override name = 'IntegrationError';
}
