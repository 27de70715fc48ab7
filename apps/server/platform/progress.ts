const EVERY_MS = 200;

/** Shows the progress of a long command. Prints nothing if the output is not a terminal. */
export class Progress {
  readonly #what: string;
  readonly #total: number | null;
  readonly #began = performance.now();
  #shownAt = 0;

  /** `total` is the final value of `done` in {@link at}; null if it is unknown. */
  constructor(what: string, total: number | null = null) {
    this.#what = what;
    this.#total = total;
  }

  at(count: number, done: number = count): void {
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    const share = this.#total ? Math.min(1, done / this.#total) : null;
    const bar =
      share === null
        ? ''
        : `[${'='.repeat(Math.round(share * 30)).padEnd(30)}] ${Math.floor(share * 100)} % `;
    const rate = Math.round(count / ((now - this.#began) / 1000));
    process.stderr.write(`\r\u001b[K${bar}${count} ${this.#what}, ${rate} a second`);
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  }
}
