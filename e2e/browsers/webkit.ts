import { spawn } from 'node:child_process';
import { findProgram } from '../../local/findProgram.ts';
import { freePort } from '../../local/ports.ts';
import { until } from '../../local/testing/startedInduct.ts';
import { asScript, type Browser, type Defer, end } from './browser.ts';

/** WebKitGTK's driver brings its own small browser, which needs a screen. */
export const webkitProgram = () => findProgram('WebKitWebDriver');
export const screenProgram = () => findProgram('Xvfb');

/** What an element is called in WebDriver's JSON. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** WebKitGTK's browser on a screen that nobody sees, over WebDriver. */
export async function startWebKit(program: string, screen: string, defer: Defer): Promise<Browser> {
  const display = await startScreen(screen, defer);
  const port = await freePort();
  const driver = spawn(program, [`--port=${port}`], {
    env: {
      ...process.env,
      DISPLAY: display,
      WAYLAND_DISPLAY: '',
      GDK_BACKEND: 'x11',
      LIBGL_ALWAYS_SOFTWARE: '1',
    },
    stdio: 'ignore',
  });
  defer(() => end(driver));
  const base = `http://127.0.0.1:${port}`;
  async function send<Result>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Result> {
    const response = await fetch(base + path, { method, ...(body && { body: JSON.stringify(body) }) });
    const { value } = (await response.json()) as { value: Result & { message?: string } };
    if (!response.ok) throw new Error(`${path}: ${value.message}`);
    return value;
  }
  await until(async () => {
    const { ready } = await send<{ ready: boolean }>('GET', '/status').catch(() => ({ ready: false }));
    return ready;
  }, 20_000);
  const { sessionId, capabilities } = await send<{
    sessionId: string;
    capabilities: { browserName: string; browserVersion: string };
  }>('POST', '/session', { capabilities: { alwaysMatch: {} } });
  const session = `/session/${sessionId}`;
  defer(async () => {
    await send('DELETE', session).catch(() => {});
  });
  const execute = (what: (...args: never[]) => unknown, args: unknown[]) =>
    send<string>('POST', `${session}/execute/sync`, {
      script: `return (${asScript(what)})(arguments[0])`,
      args: [JSON.stringify(args)],
    });
  return {
    name: `${capabilities.browserName} ${capabilities.browserVersion}`,
    open: (url) => send('POST', `${session}/url`, { url }),
    look: async (what, ...args) => JSON.parse(await execute(what, args)),
    lookInto: async (title, what, ...args) => {
      const found = await send<Record<string, string>[]>('POST', `${session}/elements`, {
        using: 'css selector',
        value: `iframe[title="${title}"]`,
      });
      if (!found[0]) return null;
      await send('POST', `${session}/frame`, { id: found[0] });
      try {
        return JSON.parse(await execute(what, args));
      } finally {
        await send('POST', `${session}/frame`, { id: null });
      }
    },
    perform: (actions) => send('POST', `${session}/actions`, { actions }),
    chooseFile: async (selector, path) => {
      const found = await send<Record<string, string>>('POST', `${session}/element`, {
        using: 'css selector',
        value: selector,
      });
      await send('POST', `${session}/element/${found[ELEMENT]}/value`, { text: path });
    },
    picture: () => send('GET', `${session}/screenshot`),
  };
}

/** Answers its name, as programs are told it. */
async function startScreen(program: string, defer: Defer): Promise<string> {
  const screen = spawn(program, ['-displayfd', '3', '-screen', '0', '1280x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  defer(() => end(screen));
  const number = await new Promise<string>((found, failed) => {
    screen.stdio[3]!.once('data', (chunk) => found(String(chunk).trim()));
    screen.once('error', failed).once('close', () => failed(new Error('Xvfb ended.')));
  });
  return `:${number}`;
}
