import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Builder, By, Capabilities, type WebDriver, type WebElement } from 'selenium-webdriver';
import { Select } from 'selenium-webdriver/lib/select.js';
import { findProgram } from '../../../tools/local/findProgram.ts';
import { freePort } from '../../../tools/local/ports.ts';
import { until } from '../../harness/until.ts';
import { type Defer, type Hands, PATIENCE_MS } from './hands.ts';

// Keeps Selenium from reporting statistics, and from downloading a driver: the code below starts an installed driver.
Object.assign(process.env, { SE_OFFLINE: 'true', SE_AVOID_STATS: 'true' });

/**
 * Returns the path of WebKitGTK's WebDriver program. It starts a small browser that is installed with it. The browser needs a
 * display.
 */
export const webkitProgram = () => findProgram('WebKitWebDriver');
/** Returns the path of Xvfb, which provides a virtual display. */
export const screenProgram = () => findProgram('Xvfb');

const elements = {
  heading: ['h1', 'h2'],
  button: ['button'],
  link: ['a'],
  field: ['label'],
  text: ['p', 'li', 'dd', 'span'],
};

/** Locates an element: a `text` by words that it contains, any other kind by its full name. */
function byWords(kind: keyof typeof elements, words: string): By {
  const text = words.replaceAll('"', '');
  const match =
    kind === 'text'
      ? `contains(normalize-space(), "${text}")`
      : `@aria-label="${text}" or (not(@aria-label) and normalize-space()="${text}")`;
  return By.xpath(elements[kind].map((name) => `//${name}[${match}]`).join(' | '));
}

/** Starts WebKitGTK's browser on a virtual display (Xvfb), driven by Selenium. */
export async function startWebKit(program: string, screen: string, defer: Defer): Promise<Hands> {
  const display = await startScreen(screen, defer);
  const port = await freePort();
  const x11 = { DISPLAY: display, WAYLAND_DISPLAY: '', GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1' };
  const service = spawn(program, [`--port=${port}`], { env: { ...process.env, ...x11 }, stdio: 'ignore' });
  endAfter(service, defer);
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(`${url}/status`).catch(() => null))?.ok === true;
  await until(isUp);
  const driver = await new Builder()
    .usingServer(url)
    .withCapabilities(new Capabilities({ browserName: 'MiniBrowser' }))
    .build();
  defer(() => driver.quit());
  const capabilities = await driver.getCapabilities();
  const find = (kind: keyof typeof elements, words: string) => findUsable(driver, byWords(kind, words));
  const field = async (label: string): Promise<WebElement> => {
    const found = await find('field', label);
    return driver.executeScript<WebElement>('return arguments[0].control', found);
  };
  return {
    name: `${capabilities.getBrowserName()} ${capabilities.getBrowserVersion()}`,
    open: (url) => driver.get(url),
    see: async (kind, words) => void (await find(kind, words)),
    async press(kind, words) {
      const press = async () => {
        const target = await find(kind, words);
        await driver.executeScript("arguments[0].scrollIntoView({ block: 'center' })", target);
        return target.click().then(
          () => true,
          () => false,
        );
      };
      await driver.wait(press, PATIENCE_MS, `"${words}" could not be pressed.`);
    },
    tick: async (label) => (await field(label)).click(),
    fill: async (label, text) => (await field(label)).sendKeys(text),
    choose: async (label, option) => new Select(await field(label)).selectByVisibleText(option),
    async fillIn(title, label, text) {
      // In a frame of another origin, WebKit's driver types and clicks at the wrong place. The code below therefore computes where
      // the field is, and sends pointer and keyboard input to that place.
      const corner = 'const { x, y } = arguments[0].getBoundingClientRect(); return { x, y }';
      const frame = await findUsable(driver, By.css(`iframe[title="${title}"]`));
      await driver.executeScript("arguments[0].scrollIntoView({ block: 'center' })", frame);
      await driver.switchTo().frame(frame);
      const inner = await driver.executeScript<{ x: number; y: number }>(corner, await field(label));
      await driver.switchTo().defaultContent();
      const outer = await driver.executeScript<{ x: number; y: number }>(corner, frame);
      const place = { x: Math.round(outer.x + inner.x) + 20, y: Math.round(outer.y + inner.y) + 20 };
      await driver.actions().move(place).click().sendKeys(text).perform();
    },
    attach: async (path) => driver.findElement(By.css('input[type=file]')).sendKeys(path),
    address: () => driver.getCurrentUrl(),
    overhang: () =>
      driver.executeScript<number>(
        'return document.documentElement.scrollWidth - document.documentElement.clientWidth',
      ),
    picture: async () => Buffer.from(await driver.takeScreenshot(), 'base64'),
  };
}

/** Waits for the first element that is visible and enabled. If it disappears meanwhile, searches again. */
async function findUsable(driver: WebDriver, by: By): Promise<WebElement> {
  const look = async () => {
    for (const element of await driver.findElements(by))
      if ((await element.isDisplayed().catch(() => false)) && (await element.isEnabled())) return element;
    return null;
  };
  const found = await driver.wait(() => look().catch(() => null), PATIENCE_MS, `There is no ${by}.`);
  return found!;
}

/** Starts a virtual display. Returns its name for `DISPLAY`. */
async function startScreen(program: string, defer: Defer): Promise<string> {
  const screen = spawn(program, ['-displayfd', '3', '-screen', '0', '1280x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  endAfter(screen, defer);
  const number = await new Promise<string>((found, failed) => {
    screen.stdio[3]!.once('data', (chunk) => found(String(chunk).trim()));
    screen.once('error', failed).once('close', () => failed(new Error('Xvfb ended.')));
  });
  return `:${number}`;
}

/** Kills a program when the test is over, and waits until it has exited. */
function endAfter(program: ChildProcess, defer: Defer): void {
  const ended = once(program, 'close');
  defer(async () => {
    program.kill();
    await ended;
  });
}
