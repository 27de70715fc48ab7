import { IntegrationError } from './dom.ts';
import { Emitter } from './emitter.ts';
import { Frame } from './frame-host.ts';
import type { Appearance } from './style.ts';

/** The part of `Elements` (elements.ts) that each of its elements uses. */
export interface Group {
  readonly key: string;
  readonly appearance: Appearance | undefined;
  /** Resolves when the intent has been loaded; rejects with the error if that failed. */
  readonly loaded: Promise<void>;
  /**
   * The amount due (cents) when the Elements were created. `fetchUpdates` promises a newer amount only to the Payment Element
   * (https://docs.stripe.com/js/elements_object/fetch_updates).
   */
  readonly due: { amount: number; currency: string };
  has(type: string): boolean;
  forget(element: FramedElement): void;
}

const TITLES = {
  payment: 'Secure payment input frame',
  address: 'Secure address input frame',
  expressCheckout: 'Secure express checkout frame',
} as const;

/** An element on the page's side: a frame of another origin, so that the page does not see what is typed into it. */
export class FramedElement extends Emitter {
  readonly type: keyof typeof TITLES;
  protected readonly group: Group;
  readonly #frame: Frame;
  #destroyed = false;

  constructor(group: Group, type: keyof typeof TITLES, options: object = {}) {
    super();
    this.group = group;
    this.type = type;
    this.#frame = new Frame(
      TITLES[type],
      () => ({
        role: type,
        key: group.key,
        options,
        appearance: group.appearance,
        hasAddress: group.has('address'),
      }),
      (name, event) => this.heard(name, event),
    );
  }

  mount(target: string | HTMLElement): void {
    if (this.#destroyed)
      throw new IntegrationError('This Element has already been destroyed. Please create a new one.');
    const node = typeof target === 'string' ? document.querySelector<HTMLElement>(target) : target;
    if (!node)
      throw new IntegrationError(
        `The selector you specified (${target}) applies to no DOM elements that are currently on the page.`,
      );
    const frame = this.#frame;
    node.replaceChildren(frame.node);
    queueMicrotask(() => this.emit('loaderstart', { elementType: this.type }));
    Promise.all([this.group.loaded, frame.connected])
      .then(() => this.readiness())
      .then(
        (more) => frame.node.isConnected && this.emit('ready', { elementType: this.type, ...more }),
        (error: object) =>
          frame.node.isConnected && this.emit('loaderror', { elementType: this.type, error }),
      );
  }

  unmount(): void {
    this.#frame.remove();
  }

  destroy(): void {
    this.unmount();
    this.#destroyed = true;
    this.group.forget(this);
  }

  focus(): void {
    this.send('focus');
  }

  blur(): void {
    this.send('blur');
  }

  clear(): void {
    this.send('clear');
  }

  update(options: object): this {
    this.send('update', options);
    return this;
  }

  collapse(): this {
    return this;
  }

  getValue(): Promise<unknown> {
    return this.ask('getValue');
  }

  ask<Value>(name: string, ...args: unknown[]): Promise<Value | undefined> {
    return this.#frame.ask(name, ...args);
  }

  /**
   * Sends a message without waiting for an answer. Ignores the error of a frame that never loaded, since it has been reported
   * already.
   */
  send(name: string, ...args: unknown[]): void {
    this.ask(name, ...args).catch(() => {});
  }

  /** Called for each event of the frame. */
  protected heard(name: string, event: object): void {
    if (name === 'enter') this.#frame.node.closest('form')?.requestSubmit();
    else this.emit(name, event);
  }

  /** Resolves with the additional data of the event `ready`; its other field is the element's type. */
  protected async readiness(): Promise<object> {
    return {};
  }
}
