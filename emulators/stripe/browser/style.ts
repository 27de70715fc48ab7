/** The appearance that the page passes (https://docs.stripe.com/elements/appearance-api). */
export interface Appearance {
  theme?: string;
  labels?: string;
  variables?: Record<string, string>;
  rules?: Record<string, Record<string, string>>;
}

const SHEET = `
.EmulatedStripe {
  --colorPrimary: #0b5cad;
  --colorBackground: #ffffff;
  --colorText: #1d1d1f;
  --colorTextSecondary: #55595f;
  --colorTextPlaceholder: #6b7078;
  --colorDanger: #b3261e;
  --colorBorder: #8a8f98;
  --borderRadius: 6px;
  --fontFamily: system-ui, sans-serif;
  --fontSizeBase: 16px;
  --fontWeightNormal: 400;
  --fontWeightMedium: 600;
  --spacingUnit: 4px;
  --gridRowSpacing: calc(var(--spacingUnit) * 4);
  --gridColumnSpacing: calc(var(--spacingUnit) * 3);
  display: grid;
  gap: var(--gridRowSpacing);
  color: var(--colorText);
  font: var(--fontWeightNormal) var(--fontSizeBase)/1.4 var(--fontFamily);
}
.EmulatedStripe *, .EmulatedStripe *::before { box-sizing: border-box; }
.EmulatedStripe .Row { display: grid; gap: var(--gridRowSpacing) var(--gridColumnSpacing);
  grid-template-columns: repeat(auto-fit, minmax(min(9rem, 100%), 1fr)); align-items: start; }
.EmulatedStripe [hidden] { display: none; }
.EmulatedStripe .Field { min-width: 0; }
.EmulatedStripe .Label { display: block; margin: 0 0 var(--spacingUnit); color: var(--colorText);
  font-size: 0.875em; font-weight: var(--fontWeightMedium); }
.EmulatedStripe .InputWrap { position: relative; }
.EmulatedStripe .Input { display: block; width: 100%; min-height: 44px; margin: 0; padding: 10px 12px;
  border: 1px solid var(--colorBorder); border-radius: var(--borderRadius); background-color: var(--colorBackground);
  color: var(--colorText); font: inherit; letter-spacing: normal; transition: border-color 150ms, box-shadow 150ms; }
.EmulatedStripe select.Input { padding-right: 32px; text-overflow: ellipsis; }
.EmulatedStripe .Input::placeholder { color: var(--colorTextPlaceholder); opacity: 1; }
.EmulatedStripe .Input:focus { outline: 3px solid var(--colorPrimary); outline-offset: 1px; border-color: var(--colorPrimary); }
.EmulatedStripe .Input[aria-invalid='true'] { border-color: var(--colorDanger); box-shadow: inset 0 0 0 1px var(--colorDanger); }
.EmulatedStripe .Error { margin: var(--spacingUnit) 0 0; color: var(--colorDanger); font-size: 0.875em; }
.EmulatedStripe .Brand { position: absolute; inset: 0 12px 0 auto; display: flex; align-items: center;
  color: var(--colorTextSecondary); font-size: 0.75em; font-weight: 700; letter-spacing: 0.04em; pointer-events: none; }
.EmulatedStripe .TestNote { margin: 0; padding: 12px; border: 1px dashed var(--colorBorder); border-radius: var(--borderRadius);
  background-color: var(--colorBackground); font-size: 0.875em; }
.EmulatedStripe .TestNoteTitle { margin: 0; font-weight: var(--fontWeightMedium); }
.EmulatedStripe .TestCards { display: grid; gap: 0 16px; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr));
  margin: 4px 0 0; padding: 0; list-style: none; }
.EmulatedStripe .TestCard { min-height: 44px; padding: 4px 0; border: 0; border-radius: 4px; background: none;
  color: var(--colorPrimary); font: inherit; text-align: start; text-decoration: underline; text-underline-offset: 3px;
  font-variant-numeric: tabular-nums; cursor: pointer; }
.EmulatedStripe button:focus-visible {
  outline: 3px solid var(--colorPrimary); outline-offset: 2px; }
.EmulatedStripeDialog { width: min(26rem, calc(100vw - 32px)); padding: 28px; border: 0; border-radius: 12px;
  background: #fff; color: #1d1d1f; box-shadow: 0 16px 64px #0005; }
.EmulatedStripeDialog::backdrop { background: #1118; }
.EmulatedStripe.Question { gap: 12px; }
.EmulatedStripe.Question h2 { margin: 0; font-size: 1.25rem; }
.EmulatedStripe.Question p { margin: 0; }
.EmulatedStripe.Question button, .EmulatedStripe .Wallet { display: block; width: 100%; min-height: 48px; padding: 8px 16px;
  border: 1px solid var(--colorPrimary); border-radius: var(--borderRadius); background: #fff; color: var(--colorPrimary);
  font: inherit; font-weight: 600; cursor: pointer; }
.EmulatedStripe.Question .First { background: var(--colorPrimary); color: #fff; }
.EmulatedStripe.Question button:disabled { opacity: 0.6; cursor: progress; }
@media (prefers-reduced-motion: reduce) { .EmulatedStripe .Input { transition: none; } }
`;

let adopted = false;

/** Adds the style sheet once, in a way that a strict content security policy allows. */
export function adoptStyles(): void {
  if (adopted) return;
  adopted = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHEET);
  document.adoptedStyleSheets.push(sheet);
}

/**
 * Applies the page's appearance to the root of an element: its variables as CSS custom properties, its rules as CSS rules below
 * the root.
 */
export function applyAppearance(
  root: HTMLElement,
  appearance: Appearance | undefined,
  rules: CSSStyleSheet,
): void {
  for (const name of [...root.style].filter((one) => one.startsWith('--'))) root.style.removeProperty(name);
  for (const [name, value] of Object.entries(appearance?.variables ?? {}))
    root.style.setProperty(`--${name}`, value);
  const text = Object.entries(appearance?.rules ?? {}).map(([selector, declarations]) => {
    const body = Object.entries(declarations).map(([name, value]) => `${kebab(name)}: ${value}`);
    return `.EmulatedStripe ${selector.replace('--invalid', "[aria-invalid='true']")} { ${body.join('; ')} }`;
  });
  rules.replaceSync(text.join('\n'));
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
