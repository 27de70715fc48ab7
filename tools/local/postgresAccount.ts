import { type SpawnOptions, spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The folder for PostgreSQL's binaries and data if PostgreSQL has to run as an unprivileged account that cannot reach their usual
 * folders, because only root may enter those.
 */
const sharedFolder = '/var/lib/induct';

/** How to run PostgreSQL's programs under an account that they accept: they refuse uid 0. */
export interface PostgresAccount {
  /** The folder that holds `bin/`, `lib/` and `share/`. */
  native: string;
  /** Returns the arguments for `spawn` that run a program. */
  command(
    program: 'initdb' | 'postgres',
    args: readonly string[],
  ): { file: string; args: string[]; options: SpawnOptions };
  /** Makes the account that runs PostgreSQL the owner of a file or folder. */
  give(path: string): void;
  /**
   * Returns the path at which to make a new data folder. This is `wanted` if the account can reach it. Otherwise this makes
   * `wanted` a symbolic link to another path, and returns that path.
   */
  place(wanted: string): string;
}

/**
 * Chooses the account that runs PostgreSQL on the data in `dataDir/postgres`.
 *
 * - Without root, it is the current account.
 * - As root, with data that another account owns, it is that account.
 * - As root otherwise, it is root in a user namespace. The files stay root's, and a folder with mode 700 is no obstacle.
 * - As root where user namespaces are refused, new data get an unprivileged account.
 *
 * Throws one sentence when none of these works.
 */
export function choosePostgresAccount(options: {
  dataDir: string;
  native: string;
  /** For tests: whether to behave as on a machine that refuses user namespaces. */
  refuseNamespaces?: boolean;
}): PostgresAccount {
  const { dataDir, native } = options;
  const direct = (program: string, args: readonly string[]) => ({
    file: join(native, 'bin', program),
    args: [...args],
    options: {},
  });
  if (process.getuid?.() !== 0) return { native, command: direct, give() {}, place: (wanted) => wanted };

  const cluster = join(dataDir, 'postgres');
  const owner = existsSync(cluster) ? statSync(cluster) : undefined;
  if (owner && owner.uid !== 0) return underAccount(owner.uid, owner.gid, dataDir, native);
  if (!options.refuseNamespaces && namespaceReaches([dataDir, native])) {
    return {
      native,
      command: (program, args) => ({
        file: 'unshare',
        args: ['--user', '--', join(native, 'bin', program), ...args],
        options: {},
      }),
      give() {},
      place: (wanted) => wanted,
    };
  }
  const account = owner ? undefined : findAccount();
  if (!account) {
    throw new Error(
      'PostgreSQL refuses to run as root, and this machine allows neither user namespaces nor has it an account "postgres" or "nobody": run this as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
  return underAccount(account.uid, account.gid, dataDir, native);
}

/**
 * Whether root can reach the paths from inside a user namespace. Inside, root still owns its files but is not privileged, so
 * folders of other accounts may be closed to it.
 */
function namespaceReaches(paths: readonly string[]): boolean {
  const checks = paths.map((_, i) => `test -x "$${i + 1}"`).join(' && ');
  return (
    spawnSync('unshare', ['--user', '--', 'sh', '-c', `${checks} && test -w "$1"`, 'sh', ...paths]).status ===
    0
  );
}

/** Returns the account `postgres` if it exists, otherwise `nobody`; undefined if neither exists. */
function findAccount(): { uid: number; gid: number } | undefined {
  for (const name of ['postgres', 'nobody']) {
    const read = (flag: string) =>
      Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10);
    const [uid, gid] = [read('-u'), read('-g')];
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  return undefined;
}

function underAccount(uid: number, gid: number, dataDir: string, source: string): PostgresAccount {
  const reaches = (path: string) => spawnSync('test', ['-x', path], { uid, gid, cwd: '/' }).status === 0;
  const native = reaches(join(source, 'bin', 'postgres')) ? source : copyBinaries(source);
  return {
    native,
    // PostgreSQL must be able to read its current directory; the account may lack access to any directory but /.
    command: (program, args) => ({
      file: join(native, 'bin', program),
      args: [...args],
      options: { uid, gid, cwd: '/' },
    }),
    give: (path) => chownSync(path, uid, gid),
    place(wanted) {
      if (reaches(dataDir)) return wanted;
      mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
      const folder = mkdtempSync(join(sharedFolder, 'data-'));
      chownSync(folder, uid, gid);
      const place = join(folder, 'postgres');
      symlinkSync(place, wanted);
      return place;
    },
  };
}

/** Copies the binaries (about 50 MB) once to a folder from which every account may run them. */
function copyBinaries(source: string): string {
  const { version } = JSON.parse(readFileSync(resolve(source, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(sharedFolder, `postgres-${version}`);
  if (existsSync(copy)) return copy;
  mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
  const half = mkdtempSync(join(sharedFolder, 'copy-'));
  cpSync(source, join(half, 'native'), { recursive: true, verbatimSymlinks: true });
  renameSync(join(half, 'native'), copy);
  rmSync(half, { recursive: true });
  return copy;
}
