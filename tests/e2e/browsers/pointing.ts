import { until } from '../../harness/until.ts';

/**
 * A browser driven by WebDriver BiDi. The functions that are passed to it run in the page, so they may use only their arguments and
 * the page's globals.
 */
export interface BidiBrowser {
  name: string;
  look<Result, Args extends unknown[]>(what: (...args: Args) => Result, ...args: Args): Promise<Result>;
  /**
   * Runs a function in the frame with this title, even if the frame is of another origin. Returns null if there is no such frame.
   */
  lookInto<Result, Args extends unknown[]>(
    title: string,
    what: (...args: Args) => Result,
    ...args: Args
  ): Promise<Result | null>;
  /** Performs input actions, given as WebDriver BiDi's list of input sources. */
  perform(sources: object[]): Promise<void>;
}

type Kind = 'button' | 'link' | 'heading' | 'field' | 'text';

/**
 * Runs in the page. Looks for a visible and enabled element with these words, and returns where to click it. A button, link or
 * field is scrolled into view, and its middle is returned as a position in the window. Text and headings are not clicked, so their
 * position is always 0, 0. Returns null if there is no such element, or if something covers its middle.
 */
function middleOf(kind: Kind, name: string): { x: number; y: number } | null {
  const selectors = {
    button: 'button',
    link: 'a',
    heading: 'h1, h2',
    field: 'label',
    text: 'p, li, dd, span',
  };
  const words = (element: Element) =>
    (element.getAttribute('aria-label') ?? element.textContent ?? '').replace(/\s+/g, ' ').trim();
  const found = [...document.querySelectorAll(selectors[kind])]
    .filter((element) => (kind === 'text' ? words(element).includes(name) : words(element) === name))
    .map((element) => (kind === 'field' ? (element as HTMLLabelElement).control : element))
    .find((element) => element?.checkVisibility() && !(element as HTMLButtonElement).disabled);
  if (!found) return null;
  if (kind === 'text' || kind === 'heading') return { x: 0, y: 0 };
  found.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { left, top, width, height } = found.getBoundingClientRect();
  const middle = { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
  // Nothing may cover the element at this point; otherwise a click would reach what covers it.
  const there = document.elementFromPoint(middle.x, middle.y);
  return there && (found.contains(there) || there.contains(found)) ? middle : null;
}

/** Runs in the page. Returns the position of a frame's top left corner in the window; null if there is no such frame. */
function cornerOf(title: string): { x: number; y: number } | null {
  const frame = [...document.querySelectorAll('iframe')].find((one) => one.title === title);
  const { left, top } = frame?.getBoundingClientRect() ?? {};
  return left === undefined || top === undefined ? null : { x: Math.round(left), y: Math.round(top) };
}

/** Returns the actions of a joiner. They use pointer and keyboard input, with one exception: `choose` sets the focus by script. */
export function pointAndType(browser: BidiBrowser) {
  async function find(kind: Kind, name: string): Promise<{ x: number; y: number }> {
    let found: { x: number; y: number } | null = null;
    await until(async () => {
      // The script fails while the browser is loading the next page.
      found = await browser.look(middleOf, kind, name).catch(() => null);
      return found !== null;
    }).catch(() => {
      throw new Error(`There is no ${kind} "${name}" in ${browser.name}.`);
    });
    return found!;
  }
  async function pressAt({ x, y }: { x: number; y: number }): Promise<void> {
    const actions = [
      { type: 'pointerMove', x, y },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    await browser.perform([{ type: 'pointer', id: 'mouse', actions }]);
  }
  async function type(keys: string): Promise<void> {
    const actions = [...keys].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await browser.perform([{ type: 'key', id: 'keyboard', actions }]);
  }
  return {
    see: async (kind: Kind, name: string) => void (await find(kind, name)),
    press: async (kind: 'button' | 'link', name: string) => pressAt(await find(kind, name)),
    tick: async (label: string) => pressAt(await find('field', label)),
    /** Fills a field in a frame, which is found by its title. */
    fillIn: async (title: string, label: string, text: string) => {
      let found: { x: number; y: number } | null = null;
      await until(async () => {
        const inside = await browser.lookInto(title, middleOf, 'field' as Kind, label).catch(() => null);
        const corner = await browser.look(cornerOf, title).catch(() => null);
        found = inside && corner && { x: inside.x + corner.x, y: inside.y + corner.y };
        return found !== null;
      }).catch(() => {
        throw new Error(`There is no field "${label}" in the frame "${title}" in ${browser.name}.`);
      });
      await pressAt(found!);
      await type(text);
    },
    fill: async (label: string, text: string) => {
      await pressAt(await find('field', label));
      await type(text);
    },
    /**
     * Focuses the field by script, since a click would open the list of options. Then types the option's first letters to choose
     * it.
     */
    choose: async (label: string, option: string) => {
      await find('field', label);
      await browser.look((wanted: string) => {
        const found = [...document.querySelectorAll('label')].find((one) =>
          one.textContent?.startsWith(wanted),
        );
        found?.control?.focus();
      }, label);
      await type(option);
    },
    /** Returns by how many pixels the page is wider than the window. */
    overhang: () =>
      browser.look(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
  };
}
