import { BASE, type StripeJsError } from './api.ts';
import { make } from './dom.ts';

/** The message that a frame sends to the page around it when the frame's script runs. It contains nothing secret. */
export const HELLO = 'emulated-stripe-frame';

/** The margin around a frame's content, so that a focus ring at its edge is visible (px). */
export const MARGIN = 4;

/** A frame that sends nothing for this long (ms) after it was loaded counts as blocked. */
const SILENCE = 1000;

/** The page's side of a frame that has the emulator's origin. The two sides talk through a message channel. */
export class Frame {
  readonly node: HTMLIFrameElement;
  readonly #start: () => object;
  readonly #told: (name: string, event: object) => void;
  readonly #answers = new Map<number, (value: unknown) => void>();
  #connection = Promise.withResolvers<MessagePort>();
  #asked = 0;

  /**
   * `start` is called each time the frame is loaded, and returns the data that the frame is to show. `told` is called for each
   * event of the frame.
   */
  constructor(title: string, start: () => object, told: (name: string, event: object) => void) {
    this.#start = start;
    this.#told = told;
    // Stripe's frames request the same permission, `payment`.
    this.node = make('iframe', { title, src: `${BASE}frame.html`, allow: 'payment *', scrolling: 'no' });
    Object.assign(this.node.style, {
      display: 'block',
      width: `calc(100% + ${2 * MARGIN}px)`,
      height: `${2 * MARGIN}px`,
      margin: `-${MARGIN}px`,
      border: '0',
    });
    window.addEventListener('message', (event) => this.#hear(event));
    this.node.addEventListener('load', () => setTimeout(() => this.#giveUp(), SILENCE));
    this.#connection.promise.catch(() => {});
  }

  /** Resolves with the port for messages to the frame. If the frame did not load, rejects with the error of Stripe.js. */
  get connected(): Promise<MessagePort> {
    return this.#connection.promise;
  }

  async ask<Value>(name: string, ...args: unknown[]): Promise<Value> {
    const port = await this.connected;
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve as (value: unknown) => void);
      port.postMessage({ id, name, args });
    });
  }

  /** Removes the frame, whose state is lost. If the frame is inserted again, it starts from the beginning. */
  remove(): void {
    this.node.remove();
    this.#connection = Promise.withResolvers();
    this.#connection.promise.catch(() => {});
  }

  #hear({ source, origin, data }: MessageEvent): void {
    if (data !== HELLO || source === null || source !== this.node.contentWindow) return;
    if (origin !== new URL(BASE).origin) return;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data: said }) => {
      if (said.id === undefined) this.#notify(said.name, said.event);
      else this.#answers.get(said.id)?.(said.value);
      this.#answers.delete(said.id);
      // The frame's first message is its height, so the frame has its final size before the page learns that the frame is ready.
      this.#connection.resolve(port1);
    };
    this.node.contentWindow!.postMessage(this.#start(), origin, [port2]);
  }

  #notify(name: string, event: { px: number }): void {
    if (name === 'height') this.node.style.height = `${event.px}px`;
    else this.#told(name, event);
  }

  #giveUp(): void {
    this.#connection.reject({
      type: 'api_connection_error',
      message: 'The frame of the payment provider could not be loaded.',
    } satisfies StripeJsError);
  }
}
