import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, normalize, relative, resolve } from 'node:path';
import { imageOf, pairsIn, parseDockerfile } from '../../tests/ops/dockerfile.ts';
import { isIgnored } from './dockerignore.ts';

const root = resolve(import.meta.dirname, '../..');
/**
 * The folders of this machine that replace the image's base system, which could only be downloaded from a registry. Node is also
 * taken from this machine.
 */
const system = ['bin', 'etc', 'lib', 'lib64', 'sbin', 'usr'];
const folders = system.filter((each) => lstatSync(`/${each}`, { throwIfNoEntry: false })?.isDirectory());
const PATH = '/node/bin:/usr/local/bin:/usr/bin:/bin';
/** The user id of the base image's account `node`. */
const NODE_USER = 1000;
/** The environment variables that npm needs to reach its registry. */
const wayOut = Object.entries(process.env).filter(([name]) =>
  /^(npm_config_(registry|cafile)|(https?|no)_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name),
);

/** The root file system that the Dockerfile builds, with the image's settings. */
export type Tree = ReturnType<typeof imageOf> & { folder: string };

/**
 * Runs the Dockerfile's instructions in `folder` without Docker: performs COPY, without the files that .dockerignore excludes,
 * and executes RUN as root in a separate root file system. Needs Linux, root and `unshare`. Throws when a step fails.
 */
export function buildTree(folder: string): Tree {
  const instructions = parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  const ignoreFile = readFileSync(join(root, '.dockerignore'), 'utf8');
  const stages = new Map<string, string>();
  let stage = '';
  let workdir = '/';
  let env: Record<string, string> = {};
  for (const { name, options, rest } of instructions) {
    if (name === 'FROM') {
      stage = join(folder, `stage-${stages.size}`);
      stages.set(/ AS (\w+)$/.exec(rest)?.[1] ?? '', stage);
      layBase(stage);
      workdir = '/';
      env = {};
    } else if (name === 'ENV') Object.assign(env, pairsIn(rest));
    else if (name === 'WORKDIR') {
      workdir = resolve(workdir, rest);
      mkdirSync(join(stage, workdir), { recursive: true });
    } else if (name === 'COPY') {
      const from = options.from === undefined ? root : stages.get(options.from)!;
      copy(from, rest.split(' '), join(stage, workdir), ignoreFile);
    } else if (name === 'RUN') {
      execFileSync('unshare', entering(stage, { env, workdir }, ['sh', '-c', rest]), {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    }
  }
  return { folder: stage, ...imageOf(instructions) };
}

/** Makes a root file system of empty folders, onto which `entering` mounts this machine's system. */
function layBase(stage: string): void {
  for (const each of ['dev', 'proc', 'tmp', 'root/.npm', 'node/bin'])
    mkdirSync(join(stage, each), { recursive: true });
  for (const each of system) {
    if (folders.includes(each)) mkdirSync(join(stage, each));
    else if (existsSync(`/${each}`)) symlinkSync(readlinkSync(`/${each}`), join(stage, each));
  }
  const account = `node:x:${NODE_USER}:`;
  writeFileSync(
    join(stage, 'node/passwd'),
    `root:x:0:0::/root:/bin/sh\n${account}${NODE_USER}::/home/node:/bin/sh\n`,
  );
  writeFileSync(join(stage, 'node/group'), `root:x:0:\n${account}\n`);
  // The providers' host names resolve to this machine, where nothing answers: a test must not reach them.
  const providers = ['api.stripe.com', 'api.hubapi.com', 'files.stripe.com'];
  writeFileSync(join(stage, 'node/hosts'), `127.0.0.1 localhost ${providers.join(' ')}\n`);
}

/**
 * Executes COPY, which copies a file or the contents of a folder. If the destination ends with a slash, a file keeps its name.
 * From the checkout, copies only what `ignoreFile` does not exclude.
 */
function copy(from: string, words: readonly string[], workdir: string, ignoreFile: string): void {
  const destination = words.at(-1)!;
  for (const source of words.slice(0, -1)) {
    const isFile = statSync(join(from, source)).isFile();
    const into = join(
      resolve(workdir, destination),
      isFile && destination.endsWith('/') ? basename(source) : '',
    );
    if (from !== root) cpSync(join(from, source), into, { recursive: true, verbatimSymlinks: true });
    else
      for (const path of filesBelow(normalize(source), ignoreFile))
        cpSync(join(root, path), join(into, relative(source, path)));
  }
}

/**
 * Returns the files at or below a path of the checkout that .dockerignore does not exclude. Skips folders that are excluded as a
 * whole.
 */
function filesBelow(path: string, ignoreFile: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return isIgnored(path, ignoreFile) ? [] : [path];
  const isLeftOut = path !== '.' && isIgnored(path, ignoreFile) && !ignoreFile.includes(`\n!${path}/`);
  return isLeftOut
    ? []
    : readdirSync(join(root, path)).flatMap((name) => filesBelow(join(path, name), ignoreFile));
}

/** How a program runs in a root file system, and under which account. */
interface Entering {
  env: Record<string, string>;
  workdir: string;
  /**
   * Folders of this machine, by their mount points in the tree. With volumes, the program runs as the image's user, who may write
   * only there and to /tmp. Without volumes, it runs as root on a writable tree.
   */
  volumes?: Record<string, string>;
}

/**
 * Returns arguments of `unshare` that run the program in its own mount and PID namespaces, as a container engine does: the tree
 * is its root, with this machine's system and Node mounted read-only.
 */
function entering(tree: string, { env, workdir, volumes }: Entering, program: readonly string[]): string[] {
  const mounts = [
    ...(volumes ? ['mount -o bind,ro "$TREE" "$TREE"'] : []),
    ...folders.map((each) => `mount -o bind,ro "/${each}" "$TREE/${each}"`),
    ...['passwd', 'group', 'hosts'].map((each) => `mount --bind "$TREE/node/${each}" "$TREE/etc/${each}"`),
    'mount -o bind,ro "$NODE" "$TREE/node/bin"',
    'mount --rbind /dev "$TREE/dev"',
    'mount -t proc proc "$TREE/proc"',
    'mount -t tmpfs -o mode=1777 tmpfs "$TREE/tmp"',
    ...(volumes ? [] : ['mkdir -p "$CACHE"', 'mount --bind "$CACHE" "$TREE/root/.npm"']),
    ...Object.entries(volumes ?? {}).map(([place, folder]) => `mount --bind "${folder}" "$TREE${place}"`),
  ];
  const user = volumes ? `${NODE_USER}:${NODE_USER}` : '0:0';
  const script = `set -e
${mounts.join('\n')}
exec chroot --userspec=${user} "$TREE" env -i "$@"`;
  const settings = {
    PATH,
    HOME: volumes ? '/home/node' : '/root',
    ...(volumes ? {} : Object.fromEntries(wayOut)),
    ...env,
  };
  return [
    ...['--mount', '--pid', '--fork'],
    ...['env', `TREE=${tree}`, `NODE=${dirname(process.execPath)}`, `CACHE=${join(homedir(), '.npm')}`],
    ...['sh', '-c', script, 'sh'],
    `--chdir=${workdir}`,
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    ...program,
  ];
}

/** A running container: the image's command as process 1, on a read-only tree. */
export interface Container {
  process: ChildProcess;
  output(): string;
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>;
  /** Sends a signal to process 1, as `docker stop` and `docker kill` do. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /**
   * Runs another program in the container, as `docker exec` does. `output` has stdout and standard error; `code` is the exit
   * status.
   */
  exec(program: readonly string[]): Promise<{ output: string; stdout: string; code: number }>;
}

export function runTree(
  { folder, cmd, env, workdir }: Tree,
  settings: Record<string, string>,
  volumes: Record<string, string>,
): Container {
  const all = { ...env, ...settings };
  const program = spawn('unshare', entering(folder, { env: all, workdir, volumes }, cmd), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [program.stdout, program.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const first = () =>
    Number(readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, 'utf8').trim());
  return {
    process: program,
    output: () => output,
    ended: once(program, 'close').then(([code, signal]) => code ?? signal),
    signal(name) {
      if (program.exitCode === null && program.signalCode === null) process.kill(first(), name);
    },
    exec: (words) =>
      new Promise((done) => {
        const id = String(NODE_USER);
        const entered = Object.entries({ PATH, ...all }).map(([name, value]) => `${name}=${value}`);
        execFile(
          'nsenter',
          [
            ...[
              '--target',
              String(first()),
              '--mount',
              '--pid',
              '--root',
              '--wd',
              '--setuid',
              id,
              '--setgid',
              id,
            ],
            ...['env', '-i', ...entered, ...words],
          ],
          (error, stdout, stderr) =>
            done({ output: stdout + stderr, stdout, code: error ? Number(error.code ?? 1) : 0 }),
        );
      }),
  };
}
