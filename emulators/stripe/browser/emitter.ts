type Handler = (event: object | undefined) => void;

/** Gives an element the methods `on`, `once` and `off`, which can be chained as in Stripe.js. */
export class Emitter {
  readonly #handlers = new Map<string, Set<Handler>>();

  on(name: string, handler: Handler): this {
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(handler));
    return this;
  }

  once(name: string, handler: Handler): this {
    const single: Handler = (event) => {
      this.off(name, single);
      handler(event);
    };
    return this.on(name, single);
  }

  off(name: string, handler?: Handler): this {
    if (handler) this.#handlers.get(name)?.delete(handler);
    else this.#handlers.delete(name);
    return this;
  }

  protected listensTo(name: string): boolean {
    return (this.#handlers.get(name)?.size ?? 0) > 0;
  }

  protected emit(name: string, event?: object): void {
    for (const handler of [...(this.#handlers.get(name) ?? [])]) handler(event);
  }
}
