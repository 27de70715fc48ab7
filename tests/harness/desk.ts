import { type DeskCallName, deskCalls } from '#contract/deskCalls.ts';
import { type DeskActionName, deskSchemas, type Shown } from '#contract/deskSchemas.ts';
import { changedFailure } from '#contract/deskShapes.ts';
import { success } from '#contract/schemas.ts';
import type { StaffRole } from '#core/staff.ts';
import { buildDesk } from '../../apps/server/desk/app.ts';
import { makeLink } from '../../apps/server/desk/links.ts';
import { freePort } from '../../tools/local/ports.ts';
import type { TestServer } from './testServer.ts';

export interface DeskAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asks for
  data: any;
  message: string | undefined;
  /** By field, what is wrong with it. */
  errors: Record<string, string> | undefined;
  /** What an action shows instead, if it has changed. */
  shown: Shown | undefined;
}

/** A browser at the desk, with its own cookie. */
export interface DeskBrowser {
  call(
    name: DeskCallName,
    options?: {
      params?: Record<string, string>;
      query?: Record<string, string>;
      /** Bytes are sent as they are. */
      body?: object | Uint8Array;
      headers?: Record<string, string>;
    },
  ): Promise<DeskAnswer>;
  /** Does an action as it is shown now. Returns the answer of the trial if that is refused. */
  act(
    name: DeskActionName,
    options?: { params?: Record<string, string>; body?: object },
  ): Promise<DeskAnswer>;
}

export interface TestDesk {
  url: string;
  browser(): DeskBrowser;
  /** Makes a member of staff. Returns the token of a link that signs them in. */
  link(name: string, role: StaffRole): Promise<string>;
  /** Returns a browser that is signed in as a member of staff, whom it makes. */
  signedIn(role: StaffRole): Promise<DeskBrowser>;
  close(): Promise<void>;
}

/** Starts the desk of a test server, at an origin of its own. */
export async function startDesk(server: TestServer, mode: 'local' | 'live' = 'local'): Promise<TestDesk> {
  const config = { ...server.deps.config, mode };
  const port = (await freePort())!;
  const url = `http://localhost:${port}`;
  const deps = { ...server.deps, config, deskUrl: url };
  const app = buildDesk(deps);
  await app.listen({ host: 'localhost', port });
  const link = (name: string, role: StaffRole) =>
    makeLink(deps, { name, email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com`, role });
  let people = 0;
  return {
    url,
    browser: () => browserAt(url),
    link,
    async signedIn(role) {
      const browser = browserAt(url);
      await browser.call('enter', { body: { token: await link(`Person ${++people}`, role) } });
      return browser;
    },
    close: () => app.close(),
  };
}

function browserAt(url: string): DeskBrowser {
  let cookie = '';
  const browser: DeskBrowser = {
    async act(name, { params = {}, body = {} } = {}) {
      const trial = await browser.call(name, { params, body: { ...body, trial: true } });
      if (trial.status !== 200) return trial;
      return browser.call(name, { params, body: { ...body, seen: trial.data.seen } });
    },
    async call(name, { params = {}, query = {}, body, headers = {} } = {}) {
      const { method, path } = deskCalls[name];
      const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => params[key] ?? '');
      const isFile = body instanceof Uint8Array;
      const response = await fetch(`${url}${filled}?${new URLSearchParams(query)}`, {
        method,
        headers: {
          cookie,
          ...(method === 'POST' && {
            origin: url,
            'sec-fetch-site': 'same-origin',
            'content-type': isFile ? 'application/octet-stream' : 'application/json',
          }),
          ...headers,
        },
        ...(method === 'POST' && { body: isFile ? new Uint8Array(body) : JSON.stringify(body ?? {}) }),
      });
      const [given] = response.headers.getSetCookie();
      if (given) cookie = given.split(';')[0]!;
      const { status, ok, headers: answered } = response;
      if (ok && 'file' in deskCalls[name]) {
        const data = Buffer.from(await response.arrayBuffer());
        return { status, headers: answered, data, message: undefined, errors: undefined, shown: undefined };
      }
      const answer = (await response.json()) as {
        data?: unknown;
        message?: string;
        errors?: Record<string, string>;
        shown?: Shown;
      };
      (response.ok ? success(deskSchemas[name].data) : changedFailure).parse(answer);
      return {
        status: response.status,
        headers: response.headers,
        data: answer.data,
        message: answer.message,
        errors: answer.errors,
        shown: answer.shown,
      };
    },
  };
  return browser;
}
