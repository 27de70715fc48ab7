/**
 * What a joiner can do in a browser. There is one implementation for each driver (WebDriver BiDi, Selenium). Each action finds
 * its element by the element's words, and waits until the element is there. Input is keyboard and pointer input of the browser,
 * except that `choose` may set the focus by script and `attach` sets the file through the driver.
 */
export interface Hands {
  /** The browser's name and version. */
  name: string;
  open(url: string): Promise<void>;
  see(kind: 'heading' | 'button' | 'text', words: string): Promise<void>;
  press(kind: 'button' | 'link', words: string): Promise<void>;
  tick(label: string): Promise<void>;
  fill(label: string, text: string): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  /** Fills a field in a frame, which may be of another origin. The frame is found by its title. */
  fillIn(frame: string, label: string, text: string): Promise<void>;
  /** Chooses a file in the page's only file input. */
  attach(path: string): Promise<void>;
  /** The page's URL. */
  address(): Promise<string>;
  /** Returns by how many pixels the page is wider than the window. */
  overhang(): Promise<number>;
  /** Returns a PNG of the visible part of the page. */
  picture(): Promise<Buffer>;
}

/** How long an element may take to appear (ms). */
export const PATIENCE_MS = 15_000;

/** Registers a task that runs after the test, whether it passed or failed. */
export type Defer = (task: () => Promise<void>) => void;
