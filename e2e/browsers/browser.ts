import type { ChildProcess } from 'node:child_process';

/**
 * The little that the smoke test needs of a browser, whichever protocol it speaks. Keys and the pointer are real input
 * of the browser; pages are looked at with functions that run in them.
 */
export interface Browser {
  /** Its own name and version. */
  name: string;
  open(url: string): Promise<void>;
  /** Runs a function in the page and answers its result, through JSON. It must not use anything from around it. */
  look<Result, Args extends unknown[]>(what: (...args: Args) => Result, ...args: Args): Promise<Result>;
  /** The same in a frame of the page, of whichever origin, by its title. Null while there is no such frame. */
  lookInto<Result, Args extends unknown[]>(
    title: string,
    what: (...args: Args) => Result,
    ...args: Args
  ): Promise<Result | null>;
  /** Input in the shape that WebDriver and WebDriver BiDi share: sources with their actions. */
  perform(sources: object[]): Promise<void>;
  chooseFile(selector: string, path: string): Promise<void>;
  /** A PNG in base64 of what is in view. */
  picture(): Promise<string>;
}

/** Takes what is to be done when the test is over, however it ends. */
export type Defer = (task: () => Promise<void>) => void;

/** Ends a program and waits until it has. */
export async function end(running: ChildProcess): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return;
  const ended = new Promise((done) => running.once('close', done));
  running.kill();
  await ended;
}

/** A function and what it is given as one expression that answers JSON. */
export const asScript = (what: (...args: never[]) => unknown) =>
  `async (json) => JSON.stringify((await (${what})(...JSON.parse(json))) ?? null)`;
