import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { licenceFaults } from './licences.ts';
import { checkWalls } from './walls.ts';

const root = resolve(import.meta.dirname, '../..');

export function checkTypes(): Promise<boolean> {
  return runProgram([join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--pretty']);
}

/**
 * Runs Biome, and checks which folders of apps/server import which others (walls.ts), and the licences of the packages
 * (licences.ts).
 */
export async function checkLint(): Promise<boolean> {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const faults = [
    ...checkWalls(root),
    ...licenceFaults(read('package-lock.json'), read('tools/local/licences.json')),
  ];
  for (const fault of faults) console.error(fault);
  const passes = await runProgram([
    join(root, 'node_modules/@biomejs/biome/bin/biome'),
    'check',
    '--colors=off',
  ]);
  return passes && faults.length === 0;
}

/** Runs a Node program in the project's root and passes its output through. Resolves with whether it succeeded. */
export function runProgram(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((done) => {
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
  });
}
