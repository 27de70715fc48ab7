import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
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

const root = resolve(import.meta.dirname, '..');
const web = join(root, 'apps/web');
const output = join(web, 'dist');

/**
 * Builds the web app into `apps/web/dist` when what it is made of has changed. The build is made beside it and then takes
 * its place, so that a killed or failed build is never served. Resolves with whether it built; rejects with what the
 * bundler said.
 */
export async function buildWeb(
  options: { building?: () => void; signal?: AbortSignal } = {},
): Promise<boolean> {
  if (!existsSync(join(web, 'rsbuild.config.ts'))) return false;
  const sources = fingerprint();
  if (madeOf(output) === sources) return false;
  options.building?.();
  clearLeftovers();
  const fresh = mkdtempSync(join(web, `dist.new-${process.pid}-`));
  try {
    await bundle(fresh, options.signal);
    compress(join(fresh, 'static'));
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

function bundle(into: string, signal?: AbortSignal): Promise<void> {
  const program = spawn(
    process.execPath,
    [
      join(root, 'node_modules/@rsbuild/core/bin/rsbuild.js'),
      'build',
      '-c',
      join(web, 'rsbuild.config.ts'),
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
      code === 0 ? done() : fail(new Error(`The web app could not be built:\n${said.trim()}`)),
    );
  });
}

/** Each file beside itself as Brotli and gzip, as small as they get: the server sends what the browser takes. */
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(bytes));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

/** A hash over everything that can change the build: its sources, the packages it imports, the versions of all others. */
function fingerprint(): string {
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
  for (const path of ['apps/web', 'packages', 'package-lock.json', 'tsconfig.json']) add(join(root, path));
  return hash.digest('hex');
}

function madeOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, '.sources'), 'utf8');
  } catch {
    return undefined;
  }
}

/** What a killed build left. */
function clearLeftovers(): void {
  for (const name of readdirSync(web)) {
    const maker = /^dist\.new-(\d+)-/.exec(name)?.[1];
    if (maker && !isRunning(Number(maker))) rmSync(join(web, name), { recursive: true, force: true });
  }
}
