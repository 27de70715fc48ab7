import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/**
 * Returns the commit right before package.json's version was last raised, and that commit's version. While the present version is
 * being deployed, servers of this previous version still run, so a test runs both (versions.test.ts). Returns null if git does
 * not have the commit: there is no repository, the clone is shallow, or the history has only one version.
 */
export function previousVersion(): { commit: string; version: string } | null {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  try {
    let next = 'HEAD';
    for (const changed of git('log', '--first-parent', '--format=%H', 'HEAD', '--', 'package.json').split(
      '\n',
    )) {
      const earlier = versionAt(next);
      if (earlier !== version) return { commit: git('rev-parse', next), version: earlier };
      next = `${changed}^`;
    }
    const first = versionAt(next);
    return first === version ? null : { commit: git('rev-parse', next), version: first };
  } catch {
    return null;
  }
}

function versionAt(commit: string): string {
  return JSON.parse(git('show', `${commit}:package.json`)).version;
}

/**
 * Writes the files of a commit into an empty folder, with a link to the packages that are installed here, so that the previous
 * version uses these packages. A package that only the previous version needs must therefore stay in devDependencies until the
 * next version.
 */
export function checkOut(commit: string, folder: string): void {
  const archive = execFileSync('git', ['archive', '--format=tar', commit], {
    cwd: root,
    maxBuffer: 512 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
}
