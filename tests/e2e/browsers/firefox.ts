import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../../tools/local/findProgram.ts';
import type { Defer, Hands } from './hands.ts';
import { type BidiBrowser, pointAndType } from './pointing.ts';

/** Preferences of the profile: no page at start, no updates, and nothing sent to Mozilla. */
const preferences = {
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'toolkit.telemetry.enabled': false,
};

export const firefoxProgram = () => findProgram('firefox-esr');

/** Runs in the page. Returns the index of the frame with this title among the page's frames; -1 when there is none. */
const indexOfFrame = (title: string) =>
  [...document.querySelectorAll('iframe')].findIndex((frame) => frame.title === title);

/** Starts headless Firefox, driven by WebDriver BiDi. Firefox itself speaks this protocol, so no driver program is needed. */
export async function startFirefox(program: string, defer: Defer): Promise<Hands> {
  const profile = mkdtempSync(join(tmpdir(), 'induct-firefox-'));
  writeFileSync(
    join(profile, 'user.js'),
    Object.entries(preferences)
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
      .join(''),
  );
  const running = spawn(
    program,
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'],
    {
      // Firefox refuses a home directory that belongs to another user.
      env: { ...process.env, HOME: profile },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const ended = new Promise((done) => running.once('close', done));
  defer(async () => {
    running.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true });
  });
  const address = await new Promise<string>((found, failed) => {
    let said = '';
    running.stderr.on('data', (chunk) => {
      said += chunk;
      const listening = /WebDriver BiDi listening on (ws:\S+)/.exec(said);
      if (listening) found(listening[1]!);
    });
    running.once('error', failed).once('close', () => failed(new Error(`Firefox ended:\n${said}`)));
  });
  const socket = new WebSocket(`${address}/session`);
  await new Promise((open, failed) => {
    socket.onopen = open;
    socket.onerror = failed;
  });
  const waiting = new Map<number, (answer: { type: string; message?: string; result?: unknown }) => void>();
  socket.onmessage = ({ data }) => {
    const answer = JSON.parse(String(data));
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  };
  let last = 0;
  async function send<Result>(method: string, params: object): Promise<Result> {
    const id = ++last;
    const answer = await new Promise<{ type: string; message?: string; result?: unknown }>((done) => {
      waiting.set(id, done);
      socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.type === 'error') throw new Error(`${method}: ${answer.message}`);
    return answer.result as Result;
  }

  const { capabilities } = await send<{ capabilities: { browserName: string; browserVersion: string } }>(
    'session.new',
    { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } },
  );
  const { contexts } = await send<{ contexts: { context: string }[] }>('browsingContext.getTree', {});
  const { context } = contexts[0]!;
  interface Called {
    type: string;
    exceptionDetails?: { text: string };
    result?: { value: string; sharedId: string };
  }
  async function run(functionDeclaration: string, json: string, where = context) {
    const called = await send<Called>('script.callFunction', {
      functionDeclaration,
      arguments: [{ type: 'string', value: json }],
      awaitPromise: true,
      target: { context: where },
    });
    if (!called.result) throw new Error(called.exceptionDetails?.text);
    return called.result;
  }
  const browser: BidiBrowser = {
    name: `${capabilities.browserName} ${capabilities.browserVersion}`,
    look: async (what, ...args) => JSON.parse((await run(asScript(what), JSON.stringify(args))).value),
    lookInto: async (title, what, ...args) => {
      const { contexts: pages } = await send<{
        contexts: { children: { context: string; url: string }[] }[];
      }>('browsingContext.getTree', { root: context });
      const index = await browser.look(indexOfFrame, title);
      const frame = pages[0]?.children[index];
      if (!frame) return null;
      return JSON.parse((await run(asScript(what), JSON.stringify(args), frame.context)).value);
    },
    perform: (actions) => send('input.performActions', { context, actions }),
  };
  return {
    name: browser.name,
    ...pointAndType(browser),
    open: (url) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    async attach(path) {
      const { sharedId } = await run("() => document.querySelector('input[type=file]')", '');
      await send('input.setFiles', { context, element: { sharedId }, files: [path] });
    },
    address: () => browser.look(() => location.href),
    async picture() {
      const { data } = await send<{ data: string }>('browsingContext.captureScreenshot', { context });
      return Buffer.from(data, 'base64');
    },
  };
}

/**
 * Returns JavaScript source for a function that runs `what` in the page. The function gets the arguments of `what` as JSON and
 * resolves with the result as JSON.
 */
const asScript = (what: (...args: never[]) => unknown) =>
  `async (json) => JSON.stringify((await (${what})(...JSON.parse(json))) ?? null)`;
