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
import { imageOf, isIgnored, pairsIn, parseDockerfile } from './dockerfile.ts';

const root = resolve(import.meta.dirname, '../..');
/** What of this machine stands for the base image, which cannot be had without a registry: its system, and the Node that runs us. */
const system = ['bin', 'etc', 'lib', 'lib64', 'sbin', 'usr'];
const folders = system.filter((each) => lstatSync(`/${each}`, { throwIfNoEntry: false })?.isDirectory());
const PATH = '/node/bin:/usr/local/bin:/usr/bin:/bin';
/** The account that the base image brings. */
const NODE_USER = 1000;
/** What npm is told of the way to its registry. */
const wayOut = Object.entries(process.env).filter(([name]) =>
  /^(npm_config_(registry|cafile)|(https?|no)_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name),
);

/** A tree that was built as the Dockerfile says, and what it says of running it. */
export type Tree = ReturnType<typeof imageOf> & { folder: string };

/**
 * Does what the Dockerfile says, step by step, in `folder`: what COPY copies, less what .dockerignore leaves out, and what RUN runs,
 * as root in a root file system of its own. Needs Linux, root and `unshare`. Throws when a step fails.
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

/** A root file system with nothing in it but places for the system's. */
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
  // Nobody is asked by a test: the addresses of the real providers are this machine's, where they do not listen.
  const providers = ['api.stripe.com', 'api.hubapi.com', 'files.stripe.com'];
  writeFileSync(join(stage, 'node/hosts'), `127.0.0.1 localhost ${providers.join(' ')}\n`);
}

/** COPY: folders by what is in them, files by their name or as the destination says. From the checkout only what `ignoreFile` leaves. */
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

/** The files of the checkout at or below a path that .dockerignore leaves; what it leaves out as a whole is not looked into. */
function filesBelow(path: string, ignoreFile: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return isIgnored(path, ignoreFile) ? [] : [path];
  const isLeftOut = path !== '.' && isIgnored(path, ignoreFile) && !ignoreFile.includes(`\n!${path}/`);
  return isLeftOut
    ? []
    : readdirSync(join(root, path)).flatMap((name) => filesBelow(join(path, name), ignoreFile));
}

/** How and as whom a program runs in a tree. */
interface Entering {
  env: Record<string, string>;
  workdir: string;
  /** As the image's user, who may write to these folders (place in the tree, folder here) and to /tmp. Without: as root, to all of it. */
  volumes?: Record<string, string>;
}

/**
 * Arguments of `unshare`, which makes the program the first one in namespaces of its own, as a container engine does: it sees the
 * tree as its root, and this machine's system and Node read-only in it.
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

/** A program as the first one of a container: the image's own command, on its tree that nobody can write to. */
export interface Container {
  process: ChildProcess;
  output(): string;
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string>;
  /** Tells its first process, as `docker stop` and `docker kill` do. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** Runs another program in it, as `docker exec` does: what it printed, and its exit status. */
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
