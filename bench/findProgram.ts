import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program on the PATH, or at one of these places; undefined when it is not installed. */
export function findProgram(name: string, ...elsewhere: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return [...folders.map((folder) => join(folder, name)), ...elsewhere].find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
