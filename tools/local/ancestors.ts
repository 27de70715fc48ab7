import { commandLine, parentOf } from './processes.ts';

/** How often to check the parents (ms). On systems other than Linux, each check starts a program. */
const interval = process.platform === 'linux' ? 250 : 1500;

/**
 * Calls `gone` once when the `npm` that started this process, or a process between the two, was killed. A killed process cannot
 * stop its children, but they get another parent, so this function polls for a changed parent.
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
  // Five steps are enough: between this process and npm there are at most the bootstrap and npm's shell.
  for (let step = 0; step < 5; step++) {
    const parent = parentOf(child);
    if (parent <= 1) break;
    chain.push({ child, parent });
    if (/^npm\b|npm-cli\.c?js/.test(commandLine(parent) ?? '')) return chain;
    child = parent;
  }
  // There is no npm among the ancestors. The bootstrap is then the only ancestor to watch, since the bootstrap's parent is the
  // user's shell.
  return chain.slice(0, /bootstrap\.mjs/.test(commandLine(process.ppid) ?? '') ? 1 : 0);
}
