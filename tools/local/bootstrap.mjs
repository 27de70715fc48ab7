// The first program of every command. It may run on an older Node of the machine, so it is plain JavaScript and imports only
// Node's own modules. It installs the packages when they do not match the lockfile, finds Node 26, and hands over to the
// command's program.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const wanted = 26;
const programs = {
  ...Object.fromEntries(
    ['start', 'test', 'dev', 'check', 'build', 'gallery', 'operator'].map((name) => [
      name,
      `tools/local/${name}.ts`,
    ]),
  ),
  faults: 'tests/faults/main.ts',
  lab: 'lab/main.ts',
};
const [command = '', ...args] = process.argv.slice(2);

if (!Object.hasOwn(programs, command)) fail(`Say which command: ${Object.keys(programs).join(', ')}.`);
install();
run(findNode());

/**
 * Installs the packages unless they were installed already for this lockfile, operating system and processor. Prints nothing on
 * standard output, which belongs to the command.
 */
function install() {
  const mark = join(root, 'node_modules', '.installed');
  const fingerprint = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(`${process.platform} ${process.arch}`)
    .digest('hex');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === fingerprint) return;

  console.error('Installing packages, which takes a minute the first time …');
  // --include: with NODE_ENV=production, npm would leave out the packages that build the page. --no-save: npm must not change the
  // lockfile.
  const options = [
    'install',
    '--no-save',
    '--include=dev',
    '--include=optional',
    '--loglevel=error',
    '--no-audit',
    '--no-fund',
  ];
  const npm = process.env.npm_execpath ?? '';
  const [file, first] = /npm-cli\.c?js$/.test(npm) ? [process.execPath, [npm]] : ['npm', []];
  const result = spawnSync(file, [...first, ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    // On Windows `npm` is a script, which only a shell can run.
    shell: file === 'npm' && process.platform === 'win32',
  });
  if (result.error) fail(`npm could not be run (${result.error.message}): install Node.js with its npm.`);
  if (result.signal) process.exit(128 + constants.signals[result.signal]);
  if (result.status !== 0)
    fail(`${result.stdout}${result.stderr}\nThe packages could not be installed; the reason is above.`);
  writeFileSync(mark, fingerprint);
}

/** Returns the path of the Node that runs this file if it is new enough, otherwise the path of the Node among the packages. */
function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= wanted) return process.execPath;
  const names = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`];
  const pinned = names.map((name) => join(root, 'node_modules', name, 'bin', 'node')).find(existsSync);
  return pinned ?? tooOld();
}

function run(node) {
  const program = spawn(
    node,
    ['--disable-warning=ExperimentalWarning', join(root, programs[command]), ...args],
    {
      stdio: 'inherit',
      // The compile cache halves the time to start. child.ts uses the same folder.
      env: {
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
        ...process.env,
        PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
      },
    },
  );
  program.on('error', tooOld);
  // Ctrl-C reaches the program directly. A signal that is sent to this process alone does not reach the program, so this process
  // passes the signal on. The program decides when to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => program.kill(signal));
  const npm = findNpm();
  if (npm !== undefined) setInterval(() => isRunning(npm) || program.kill('SIGTERM'), 250).unref();
  program.on('exit', (code, signal) => {
    // Linux's loader prints which library is missing. Slim systems lack one that Node needs.
    if (code === 127) console.error('Node.js did not start. On Debian: apt-get install libatomic1.');
    process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1));
  });
}

/**
 * Returns the process id of the npm that runs this program; undefined without npm. A killed npm cannot notify this program, and
 * on Linux the shell between them continues to wait.
 */
function findNpm() {
  const { ppid, platform, env } = process;
  if (env.npm_lifecycle_event === undefined) return undefined;
  if (platform !== 'linux' || /^npm\b|npm-cli/.test(readFileSync(`/proc/${ppid}/cmdline`, 'utf8')))
    return ppid;
  return Number(readFileSync(`/proc/${ppid}/stat`, 'utf8').split(') ').at(-1).split(' ')[1]);
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function tooOld() {
  fail(
    `This needs Node.js ${wanted} or newer. This is ${process.version}, and there is no ${wanted} for ${process.platform} on ${process.arch} among the packages: install it from nodejs.org.`,
  );
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
