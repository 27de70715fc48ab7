import { make } from './dom.ts';
import { type Appearance, adoptStyles, applyAppearance } from './style.ts';

/** What is first wrong with what was typed, as Stripe.js tells it. */
export interface ValidationError {
  type: 'validation_error';
  code: string;
  message: string;
}

/** Tells the page of an event, such as `change`. */
export type Tell = (name: string, event: object) => void;

/** The fields of an Element, inside its frame. */
export abstract class ElementFields {
  abstract readonly type: string;
  readonly root: HTMLDivElement;
  readonly #tell: Tell;
  readonly #rules = new CSSStyleSheet();
  #focused = false;

  constructor(tell: Tell, appearance: Appearance | undefined) {
    this.#tell = tell;
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

  /** Shows what is wrong with every field; the first of it and where, or undefined when all is well. */
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
    this.#tell(name, { elementType: this.type, ...event });
  }

  #setFocused(focused: boolean): void {
    if (focused === this.#focused) return;
    this.#focused = focused;
    this.emit(focused ? 'focus' : 'blur', {});
  }
}
