import { IntegrationError, make } from './dom.ts';
import { Emitter } from './emitter.ts';
import type { Appearance } from './style.ts';
import { adoptStyles, applyAppearance } from './style.ts';

/** What is first wrong with what was typed, as Stripe.js tells it. */
export interface ValidationError {
  type: 'validation_error';
  code: string;
  message: string;
}

/** What the group of elements lends to each of its elements. */
export interface Group {
  readonly appearance: Appearance | undefined;
  readonly rules: CSSStyleSheet;
  /** Settles when the provider has answered what is being paid; rejects with the error when it has not. */
  readonly loaded: Promise<void>;
  has(type: string): boolean;
  forget(element: BaseElement): void;
}

/** An element in the light DOM of the node it is mounted on: no frame, no shadow root. */
export abstract class BaseElement extends Emitter {
  abstract readonly type: string;
  protected readonly group: Group;
  protected readonly root: HTMLDivElement;
  #focused = false;
  #destroyed = false;

  constructor(group: Group) {
    super();
    this.group = group;
    adoptStyles();
    this.root = make('div', { class: 'EmulatedStripe' });
    this.root.addEventListener('focusin', () => this.#setFocused(true));
    this.root.addEventListener('focusout', (event) => {
      if (!this.root.contains(event.relatedTarget as Node | null)) this.#setFocused(false);
    });
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.emit('escape', { elementType: this.type });
    });
    this.restyle();
  }

  /** Shows what is wrong with every field; the first of it and where, or undefined when all is well. */
  abstract validate(): { error: ValidationError; control: HTMLElement } | undefined;

  mount(target: string | HTMLElement): void {
    if (this.#destroyed)
      throw new IntegrationError('This Element has already been destroyed. Please create a new one.');
    const node = typeof target === 'string' ? document.querySelector<HTMLElement>(target) : target;
    if (!node)
      throw new IntegrationError(
        `The selector you specified (${target}) applies to no DOM elements that are currently on the page.`,
      );
    node.replaceChildren(this.root);
    queueMicrotask(() => this.emit('loaderstart', { elementType: this.type }));
    this.group.loaded.then(
      () => this.root.isConnected && this.emit('ready', { elementType: this.type }),
      (error: object) => this.root.isConnected && this.emit('loaderror', { elementType: this.type, error }),
    );
  }

  unmount(): void {
    this.root.remove();
  }

  destroy(): void {
    this.unmount();
    this.#destroyed = true;
    this.group.forget(this);
  }

  focus(): void {
    this.root.querySelector<HTMLElement>('input, select')?.focus();
  }

  blur(): void {
    if (this.root.contains(document.activeElement)) (document.activeElement as HTMLElement).blur();
  }

  restyle(): void {
    applyAppearance(this.root, this.group.appearance, this.group.rules);
  }

  #setFocused(focused: boolean): void {
    if (focused === this.#focused) return;
    this.#focused = focused;
    this.emit(focused ? 'focus' : 'blur', { elementType: this.type });
  }
}
