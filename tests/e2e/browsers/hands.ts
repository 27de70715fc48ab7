/**
 * What a joiner does with a browser, whichever program drives it: everything is found by its words, and waited for. Keys and
 * the pointer are the browser's real input.
 */
export interface Hands {
  /** The browser's own name and version. */
  name: string;
  open(url: string): Promise<void>;
  see(kind: 'heading' | 'button' | 'text', words: string): Promise<void>;
  press(kind: 'button' | 'link', words: string): Promise<void>;
  tick(label: string): Promise<void>;
  fill(label: string, text: string): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  /** The same as `fill` in a frame of whichever origin, by its title. */
  fillIn(frame: string, label: string, text: string): Promise<void>;
  /** Gives a file to the page's only file input. */
  attach(path: string): Promise<void>;
  /** The page's address. */
  address(): Promise<string>;
  /** By how many pixels the page hangs over its side. */
  overhang(): Promise<number>;
  /** A PNG of what is in view. */
  picture(): Promise<Buffer>;
}

/** How long something may take to appear (ms). */
export const PATIENCE_MS = 15_000;

/** Takes what is to be done when the test is over, however it ends. */
export type Defer = (task: () => Promise<void>) => void;
