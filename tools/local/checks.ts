import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/**
 * The arguments with which Node runs each program. The programs are those that the project pins, not others that may be on the
 * PATH.
 */
export const programs = {
  types: [resolve(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--pretty'],
  biome: [resolve(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', '--colors=off'],
  lint: ['--disable-warning=ExperimentalWarning', resolve(root, 'tools/local/lint.ts')],
};

/** Runs a Node program in the project's root and passes its output through. Resolves with whether it succeeded. */
export function runProgram(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((done) => {
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
  });
}
