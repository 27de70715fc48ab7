import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { isRunning } from './processes.ts';

const root = resolve(import.meta.dirname, '../..');

/** An app that the bundler builds, by its `rsbuild.config.ts`, into its folder `dist`. */
interface Build {
  /** The name as it appears in sentences. */
  name: string;
  /** The folder, relative to the root. */
  folder: string;
  /** The files and folders from which the app is built, relative to the root. */
  sources: readonly string[];
  /** Runs on the new build before it replaces the old one. */
  finish?: (folder: string) => void;
}

const everywhere = ['packages', 'package.json', 'package-lock.json', 'tsconfig.json'];
const web: Build = {
  name: 'the web app',
  folder: 'apps/web',
  sources: ['apps/web', ...everywhere],
  finish: (folder) => compress(join(folder, 'static')),
};
const desk: Build = {
  name: 'the desk',
  folder: 'apps/desk',
  sources: ['apps/desk', ...everywhere],
  finish: (folder) => compress(join(folder, 'static')),
};
/**
 * The server is bundled into one file instead of hundreds, so that it starts faster (docs/decisions/0002).
 */
const server: Build = {
  name: 'the server',
  folder: 'apps/server',
  sources: ['apps/server', ...everywhere],
};
/** The built server's program, which `npm start` runs. */
export const builtServer = join(root, server.folder, 'start.mjs');
/**
 * Limits the memory for short-lived objects. By default Node lets them use up to 192 MB before it collects the unused ones.
 * Dockerfile has the same flag.
 */
export const serverFlags = ['--max-semi-space-size=16'];

export interface BuildOptions {
  /** Called with an app's name when the app has to be built. */
  building?: (name: string) => void;
  signal?: AbortSignal;
}

export const buildWeb = (options: BuildOptions = {}) => build(web, options);
export const buildDesk = (options: BuildOptions = {}) => build(desk, options);
/** Builds all apps. Resolves with the folders that were built anew. */
export async function buildAll(options: BuildOptions = {}): Promise<string[]> {
  const apps = [web, desk, server];
  const built = await Promise.all(apps.map((app) => build(app, options)));
  return apps.filter((_, index) => built[index]).map(({ folder }) => `${folder}/dist`);
}

/**
 * Builds an app if its sources have changed. The new build is made next to the old one and then replaces it, so that a killed or
 * failed build is never served. Resolves with whether it built; rejects with the bundler's output.
 */
async function build(app: Build, { building, signal }: BuildOptions): Promise<boolean> {
  const folder = join(root, app.folder);
  const output = join(folder, 'dist');
  const sources = fingerprint(app);
  if (madeOf(output) === sources) return false;
  building?.(app.name);
  clearLeftovers(folder);
  // mkdtemp is not used, since it makes a folder that only its owner can read. Root may build what another account runs.
  const fresh = join(folder, `dist.new-${process.pid}-${randomBytes(3).toString('hex')}`);
  mkdirSync(fresh);
  try {
    await bundle(app, fresh, signal);
    app.finish?.(fresh);
    writeFileSync(join(fresh, '.sources'), sources);
    const old = `${fresh}.old`;
    if (existsSync(output)) renameSync(output, old);
    renameSync(fresh, output);
    rmSync(old, { recursive: true, force: true });
    return true;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function bundle({ name, folder }: Build, into: string, signal?: AbortSignal): Promise<void> {
  const program = spawn(
    process.execPath,
    [
      join(root, 'node_modules/@rsbuild/core/bin/rsbuild.js'),
      'build',
      '-c',
      join(root, folder, 'rsbuild.config.ts'),
      '--dist-path',
      into,
    ],
    {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal && { signal }),
    },
  );
  let said = '';
  program.stdout.on('data', (chunk) => (said += chunk));
  program.stderr.on('data', (chunk) => (said += chunk));
  return new Promise((done, fail) => {
    program.once('error', fail);
    program.once('close', (code) =>
      code === 0 ? done() : fail(new Error(`Building ${name} failed:\n${said.trim()}`)),
    );
  });
}

/**
 * Writes a Brotli and a gzip copy next to each file, compressed as far as possible. The server sends the copy that the browser
 * accepts.
 */
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(bytes));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

/** Returns a hash over everything that can change the build: its sources and the versions of all packages. */
function fingerprint({ sources }: Build): string {
  const hash = createHash('sha256');
  const add = (path: string) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) {
      for (const name of readdirSync(path).sort()) {
        if (name !== 'node_modules' && !/^dist(\.|$)|\.test\.ts$/.test(name)) add(join(path, name));
      }
    } else if (stats?.isFile()) {
      hash.update(`${path.slice(root.length)}\0${stats.size}\0`).update(readFileSync(path));
    }
  };
  for (const path of sources) add(join(root, path));
  return hash.digest('hex');
}

function madeOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, '.sources'), 'utf8');
  } catch {
    return undefined;
  }
}

/** Removes the files that killed builds have left. */
function clearLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const maker = /^dist\.new-(\d+)-/.exec(name)?.[1];
    if (maker && !isRunning(Number(maker))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}
