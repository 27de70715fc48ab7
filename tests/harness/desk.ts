import { addressOf } from '#client/deskClient.ts';
import { type DeskCallName, deskCalls } from '#contract/deskCalls.ts';
import { type DeskActionName, deskSchemas, type Shown } from '#contract/deskSchemas.ts';
import { changedFailure } from '#contract/deskShapes.ts';
import { success } from '#contract/shapes.ts';
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
  /** The error message of each invalid field. */
  errors: Record<string, string> | undefined;
  /** What an action would do now, if this has changed since it was shown. */
  shown: Shown | undefined;
}

/** A browser at the desk, with its own cookie. If the answer is a file that is not text, `data` is a Buffer. */
export interface DeskBrowser {
  call(
    name: DeskCallName,
    options?: {
      params?: Record<string, string>;
      query?: Record<string, string>;
      /** The body. Bytes are sent unchanged. */
      body?: object | Uint8Array;
      /** The body of a call that takes a CSV file. */
      csv?: string;
      headers?: Record<string, string>;
    },
  ): Promise<DeskAnswer>;
  /** Tries an action and then does it. Returns the answer of the trial if the trial is refused. */
  act(
    name: DeskActionName,
    options?: { params?: Record<string, string>; body?: object },
  ): Promise<DeskAnswer>;
}

export interface TestDesk {
  url: string;
  browser(): DeskBrowser;
  /** Makes a member of staff. Returns the token of their sign-in link. */
  link(name: string, role: StaffRole): Promise<string>;
  /** Makes a member of staff, and returns a browser that is signed in as them. */
  signedIn(role: StaffRole): Promise<DeskBrowser>;
  close(): Promise<void>;
}

/** Starts the desk of a test server, with its own origin, at `port`. `behind` is the origin of a proxy in front of the desk. */
export async function startDesk(
  server: TestServer,
  mode: 'local' | 'live' = 'local',
  { port: given, behind }: { port?: number; behind?: string } = {},
): Promise<TestDesk> {
  const config = { ...server.deps.config, mode };
  const port = given ?? (await freePort())!;
  const url = behind ?? `http://localhost:${port}`;
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
    async call(name, { params = {}, query, body, csv, headers = {} } = {}) {
      const { method } = deskCalls[name];
      const isBytes = body instanceof Uint8Array;
      const type = isBytes ? 'application/octet-stream' : csv === undefined ? 'application/json' : 'text/csv';
      const response = await fetch(url + addressOf(name, params, query), {
        method,
        headers: {
          cookie,
          ...(method === 'POST' && {
            origin: url,
            'sec-fetch-site': 'same-origin',
            'content-type': type,
          }),
          ...headers,
        },
        ...(method === 'POST' && {
          body: isBytes ? new Uint8Array(body) : (csv ?? JSON.stringify(body ?? {})),
        }),
      });
      const [given] = response.headers.getSetCookie();
      if (given) cookie = given.split(';')[0]!;
      const isFile = response.ok && 'file' in deskCalls[name];
      const isText = response.headers.get('content-type')?.startsWith('text/');
      const fileOf = async () => (isText ? response.text() : Buffer.from(await response.arrayBuffer()));
      const answer = (isFile ? { data: await fileOf() } : await response.json()) as {
        data?: unknown;
        message?: string;
        errors?: Record<string, string>;
        shown?: Shown;
      };
      if (!isFile) (response.ok ? success(deskSchemas[name].data) : changedFailure).parse(answer);
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
