import type { Frame, Page } from '@playwright/test';

/**
 * Checks of WCAG 2.2 on the rendered page that axe cannot make. Each check returns what is wrong. Numbers such as 1.4.12 are WCAG's
 * success criteria.
 */

/**
 * Applies the text spacing that a reader may set (1.4.12). Uses an adopted style sheet, since the page's content security policy
 * does not apply to such a sheet.
 */
export async function spaceText(page: Page): Promise<void> {
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
      * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
      p { margin-bottom: 2em !important }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  });
}

/** Finds text that is cut off by its box, or overlaps other text. */
export function textTroubles(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const troubles: string[] = [];
    const lines: { text: string; node: Node; box: DOMRect }[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim();
      const element = node.parentElement;
      // Leaves out options, which the browser itself draws, and text for screen readers alone, which is clipped.
      if (!text || !element?.checkVisibility() || element.closest('option, script, style, noscript'))
        continue;
      if ([element, element.parentElement].some((one) => one && getComputedStyle(one).clipPath !== 'none'))
        continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) if (box.width > 0) lines.push({ text, node, box });
      // Text counts as cut off where it is outside a box with `overflow: hidden`, or extends beyond the right edge of a button or
      // link. Text outside a box that scrolls does not count, since a reader can scroll to it.
      for (let over: Element | null = element; over; over = over.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(over);
        const frame = over.getBoundingClientRect();
        const box = range.getBoundingClientRect();
        if (
          (overflowX === 'hidden' && box.right > frame.right + 1) ||
          (overflowY === 'hidden' && box.bottom > frame.bottom + 1) ||
          (over.matches('button, a[class], summary') && box.right > frame.right + 1)
        )
          troubles.push(`cut off: ${text}`);
      }
    }
    // A line's box is taller than its letters, so a small overlap of boxes does not count.
    const inner = ({ top, bottom, left, right }: DOMRect) => {
      const slack = (bottom - top) * 0.25;
      return { top: top + slack, bottom: bottom - slack, left: left + 1, right: right - 1 };
    };
    for (const [index, one] of lines.entries())
      for (const other of lines.slice(index + 1)) {
        if (one.node === other.node) continue;
        const [a, b] = [inner(one.box), inner(other.box)];
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          troubles.push(`one upon the other: ${one.text} / ${other.text}`);
      }
    return troubles;
  });
}

/**
 * Finds words that are broken in the middle. Words of more than 18 letters, such as a Stripe reference, may have to be broken,
 * and parts of a URL or email are not words.
 */
export function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement!;
      if (!element.checkVisibility() || element.closest('option, script, style, noscript, textarea'))
        continue;
      if (getComputedStyle(element).clipPath !== 'none') continue;
      for (const { 0: word, index } of node.textContent!.matchAll(
        /(?<![@.\w])[\p{L}\d$]{2,18}(?![@\w]|\.\w)/gu,
      )) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = [...range.getClientRects()].filter(({ width }) => width > 0);
        if (new Set(lines.map(({ top }) => Math.round(top))).size > 1) found.push(word);
      }
    }
    return found;
  });
}

/** Finds text fields and dropdowns that are too narrow for four letters. */
export function crampedFields(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('input:not([type=checkbox], [type=file]), select, textarea')]
      .filter((field) => field.checkVisibility())
      .filter((field) => {
        const { paddingLeft, paddingRight, fontSize } = getComputedStyle(field);
        const room = field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
        return room < 4 * Number.parseFloat(fontSize);
      })
      .map(({ id, clientWidth }) => `${id}: ${clientWidth} px`),
  );
}

interface Colours {
  /** Returns the contrast ratio of two CSS colours. */
  contrast(one: string, other: string): number;
  /** Returns the first opaque background colour behind an element. */
  groundOf(element: Element | null): string;
}
type Coloured = {
  colours: Colours;
  /**
   * Returns what is wrong with the focus indication of an element: no ring (2.4.7), a faint ring (1.4.11), or something that
   * covers the element (2.4.11).
   */
  ringTroubles(element: Element): string[];
};

/** Defines `window.colours` and `window.ringTroubles` in a page or a frame. */
function bringColours(page: Page | Frame): Promise<void> {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const pen = canvas.getContext('2d', { willReadFrequently: true })!;
    const known = new Map<string, number[]>();
    /** Returns red, green, blue and alpha, each from 0 to 255. */
    const parse = (colour: string) => {
      const parsed = known.get(colour);
      if (parsed) return parsed;
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      const parts = [...pen.getImageData(0, 0, 1, 1).data];
      known.set(colour, parts);
      return parts;
    };
    const luminance = (colour: string) => {
      const [red, green, blue] = parse(colour).map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    };
    const colours: Colours = {
      contrast: (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light! + 0.05) / (dark! + 0.05);
      },
      groundOf: (element) => {
        for (let at = element; at; at = at.parentElement) {
          const { backgroundColor } = getComputedStyle(at);
          if (parse(backgroundColor)[3] === 255) return backgroundColor;
        }
        return '#fff';
      },
    };
    const ringTroubles = (element: Element) => {
      const troubles: string[] = [];
      const { outlineStyle, outlineWidth, outlineColor, outlineOffset } = getComputedStyle(element);
      if (outlineStyle === 'none' || Number.parseFloat(outlineWidth) < 2) troubles.push('no ring');
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const x = (left + right) / 2;
      const y = (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2;
      // The background of a focus ring is what is next to the element or, with a negative outline offset, the element itself.
      const beside = document.elementFromPoint(left > 4 ? left - 4 : right + 4, y);
      const ground = colours.groundOf(
        Number.parseFloat(outlineOffset) < 0 ? element : (beside ?? element.parentElement),
      );
      if (colours.contrast(outlineColor, ground) < 3) troubles.push('faint ring');
      const there = document.elementFromPoint(x, y);
      if (!there || !(element.contains(there) || there.contains(element)))
        troubles.push(`covered by ${there?.className}`);
      return troubles;
    };
    Object.assign(window, { colours, ringTroubles });
  });
}

/**
 * Finds controls with too little contrast: below 3 to 1 with the background around them (1.4.11). For a field, its edge is
 * compared; for a toggle button in the pressed state, its text.
 */
export async function faintEdges(page: Page): Promise<string[]> {
  await bringColours(page);
  return page.evaluate(() => {
    const { contrast, groundOf } = (window as unknown as Coloured).colours;
    const found: string[] = [];
    for (const control of document.querySelectorAll<HTMLElement>(
      // A slider is recognised by its thumb.
      'input:not([type=checkbox], [type=range]), select, button',
    )) {
      if (!control.checkVisibility() || control.matches(':disabled')) continue;
      const { borderTopColor, borderTopWidth, backgroundColor } = getComputedStyle(control);
      const name = control.getAttribute('aria-label') ?? (control.id || control.textContent);
      const around = groundOf(control.parentElement);
      // Only fields need an edge: a button can be recognised by its words alone.
      const isField = control.matches('input, select');
      const edge = Number.parseFloat(borderTopWidth) > 0 ? borderTopColor : backgroundColor;
      const strongest = Math.max(contrast(edge, around), contrast(backgroundColor, around));
      if (isField && strongest < 3) found.push(`${name}: ${edge} on ${around}, ${strongest.toFixed(2)}`);
      if (
        control.getAttribute('aria-pressed') === 'true' &&
        contrast(getComputedStyle(control).color, around) < 3
      )
        found.push(`${name}, pressed`);
    }
    return found;
  });
}

export interface Stop {
  name: string;
  troubles: string[];
}

/**
 * Presses Tab from the top of the page to its end. Returns each stop with its faults: no focus ring or a faint one (2.4.7,
 * 1.4.11), covered by something (2.4.11), out of the page's order (2.4.3), or opening another page on focus (3.2.1).
 */
export async function tabThrough(page: Page): Promise<Stop[]> {
  const stops: Stop[] = [];
  await Promise.all(page.frames().map(bringColours));
  await page.evaluate(() => {
    window.scrollTo(0, 0);
    (document.activeElement as HTMLElement | null)?.blur();
    Object.assign(window, { lastStop: null });
  });
  const address = page.url();
  for (let presses = 0; presses < 400; presses++) {
    await page.keyboard.press('Tab');
    const stop = await stopIn(page.mainFrame());
    if (!stop) return stops;
    if (page.url() !== address) stop.troubles.push('led elsewhere');
    stops.push(stop);
  }
  throw new Error('Tab never came to the end of the page.');
}

/**
 * Gives the focus to each control in turn by a script, which is much faster than the Tab key. Returns the controls with a fault
 * that depends on layout and colours. For pages that {@link tabThrough} has tested at another size. Leaves out controls in
 * frames.
 */
export async function focusThrough(page: Page): Promise<Stop[]> {
  await bringColours(page);
  // The browser shows the focus that a script sets only if a key set the previous focus.
  await page.keyboard.press('Tab');
  return page.evaluate(async () => {
    const found: Stop[] = [];
    const { ringTroubles } = window as unknown as Coloured;
    const controls = document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]',
    );
    for (const control of controls) {
      if (!control.checkVisibility() || control.tabIndex < 0) continue;
      control.focus();
      if (document.activeElement !== control) continue;
      let troubles = ringTroubles(control);
      if (troubles.length > 0) {
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        troubles = ringTroubles(control);
      }
      if (troubles.length > 0)
        found.push({ name: control.getAttribute('aria-label') ?? control.textContent, troubles });
    }
    return found;
  });
}

/**
 * Returns the focused element of this frame or a frame within it, with its faults. Null at the page's end, where no element has the
 * focus.
 */
async function stopIn(frame: Frame): Promise<Stop | null> {
  const stop = await frame.evaluate(async () => {
    const element = document.activeElement as HTMLElement | null;
    if (!element || element === document.body) return null;
    if (element.matches('iframe')) return 'frame';
    const look = () => (window as unknown as Coloured).ringTroubles(element);
    let troubles = look();
    if (troubles.length > 0) {
      // After two frames the browser has scrolled the element into view, if it had not yet.
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      troubles = look();
    }
    const memory = window as unknown as { lastStop: Element | null };
    if (
      memory.lastStop &&
      memory.lastStop.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING
    )
      troubles.push('out of order');
    memory.lastStop = element;
    const label = (element as HTMLInputElement).labels?.[0]?.textContent;
    return { name: element.getAttribute('aria-label') ?? label ?? element.textContent ?? '', troubles };
  });
  if (stop !== 'frame') return stop;
  for (const child of frame.childFrames())
    if (await child.evaluate(() => document.hasFocus())) return stopIn(child);
  return { name: 'a frame', troubles: ['nothing in it has the focus'] };
}

/** Finds text that is shown above text that precedes it in the source (1.3.2). */
export function outOfSequence(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    let before: { text: string; box: DOMRect } | null = null;
    const walker = document.createTreeWalker(document.querySelector('main')!, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim();
      const element = node.parentElement!;
      if (!text || !element.checkVisibility() || element.closest('option')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width < 2 || getComputedStyle(element).clipPath !== 'none') continue;
      if (before && box.bottom <= before.box.top && box.left < before.box.right)
        found.push(`${text} stands above ${before.text}`);
      before = { text, box };
    }
    return found;
  });
}

/** Finds controls that are less than 44 px high. This is our own rule; WCAG requires 24 px (2.5.8). */
export function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, select, summary, input, nav a, li > a, a[class]')]
      .map((element) => (element.matches('[type=checkbox]') ? element.parentElement! : element))
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 2)
      .filter((element) => !element.closest('[role=alert]') && element.getBoundingClientRect().height < 43.5)
      .map((element) => `${element.textContent || element.id}: ${element.getBoundingClientRect().height} px`),
  );
}
