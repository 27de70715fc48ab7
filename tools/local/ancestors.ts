import { commandLine, parentOf } from './processes.ts';

/** How often to look (ms); elsewhere than on Linux a look starts a program. */
const interval = process.platform === 'linux' ? 250 : 1500;

/**
 * Calls `gone` once when a process between this one and the `npm` that started it was killed, which leaves the rest
 * without anybody to stop them: kill -9 tells nobody, but the orphan gets another parent.
 */
export function watchAncestors(gone: () => void): void {
  const chain = ancestorsUpToNpm();
  if (chain.length === 0) return;
  const timer = setInterval(() => {
    if (chain.every(({ child, parent }) => parentOf(child) === parent)) return;
    clearInterval(timer);
    gone();
  }, interval);
  timer.unref();
}

function ancestorsUpToNpm(): { child: number; parent: number }[] {
  const chain: { child: number; parent: number }[] = [];
  let child = process.pid;
  // npm, a shell, the bootstrap and this: no more than a few steps.
  for (let step = 0; step < 5; step++) {
    const parent = parentOf(child);
    if (parent <= 1) break;
    chain.push({ child, parent });
    if (/^npm\b|npm-cli\.c?js/.test(commandLine(parent) ?? '')) return chain;
    child = parent;
  }
  // Not started by npm: only the bootstrap counts, not somebody's shell.
  return chain.slice(0, /bootstrap\.mjs/.test(commandLine(process.ppid) ?? '') ? 1 : 0);
}
