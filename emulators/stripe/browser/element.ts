import { make } from './dom.ts';
import { type Appearance, adoptStyles, applyAppearance } from './style.ts';

/** The first fault in the typed values, in the form in which Stripe.js reports it. */
export interface ValidationError {
  type: 'validation_error';
  code: string;
  message: string;
}

/** Reports an event, such as `change`, to the page. */
export type Notify = (name: string, event: object) => void;

/** The input fields of one Element (as Stripe calls a part of its payment form), inside the Element's frame. */
export abstract class ElementFields {
  abstract readonly type: string;
  readonly root: HTMLDivElement;
  readonly #notify: Notify;
  readonly #rules = new CSSStyleSheet();
  #focused = false;

  constructor(notify: Notify, appearance: Appearance | undefined) {
    this.#notify = notify;
    adoptStyles();
    document.adoptedStyleSheets.push(this.#rules);
    this.root = make('div', { class: 'EmulatedStripe' });
    this.root.addEventListener('focusin', () => this.#setFocused(true));
    this.root.addEventListener('focusout', (event) => {
      if (!this.root.contains(event.relatedTarget as Node | null)) this.#setFocused(false);
    });
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.emit('escape', {});
      if (event.key === 'Enter' && event.target instanceof HTMLInputElement) this.emit('enter', {});
    });
    this.restyle(appearance);
  }

  /** Shows the fault of every field. Returns the first fault and its control, or undefined when there is none. */
  abstract validate(): { error: ValidationError; control: HTMLElement } | undefined;

  abstract clear(): void;

  focus(): void {
    this.root.querySelector<HTMLElement>('input, select')?.focus();
  }

  blur(): void {
    (document.activeElement as HTMLElement | null)?.blur();
  }

  restyle(appearance: Appearance | undefined): void {
    applyAppearance(this.root, appearance, this.#rules);
  }

  protected emit(name: string, event: object): void {
    this.#notify(name, { elementType: this.type, ...event });
  }

  #setFocused(focused: boolean): void {
    if (focused === this.#focused) return;
    this.#focused = focused;
    this.emit(focused ? 'focus' : 'blur', {});
  }
}
