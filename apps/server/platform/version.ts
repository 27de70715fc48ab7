import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverFolder } from './serverFolder.ts';

/** The version of this program, from package.json: "1.2.3". */
export const version: string = JSON.parse(
  readFileSync(join(serverFolder, '../../package.json'), 'utf8'),
).version;

/** Whether the version `one` ("1.2.3") is newer than `other`. */
export function isLater(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const differing = left.findIndex((number, index) => number !== right[index]);
  return differing >= 0 && left[differing]! > right[differing]!;
}
