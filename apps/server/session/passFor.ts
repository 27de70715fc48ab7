import type { Deps } from './deps.ts';

/** Returns a pass of a join, for a page on which its user can prove to be the joiner. */
export function passFor({ passes }: Pick<Deps, 'passes'>, uuid: string): string {
  return new URL(passes.address(uuid)).hash.slice(1);
}
