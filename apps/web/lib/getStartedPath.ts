import { screens } from '#core/navigation.ts';
import { storedProgramme } from './session.ts';
import { theSite } from './site.ts';

/**
 * Returns the path of Get Started in the programme of this browser's join. Without a join, or if its programme is unknown, the
 * path names none, which means the society's default.
 */
export function getStartedPath(): string {
  const programme = storedProgramme();
  return programme === null || programme === theSite().defaultProgramme
    ? screens.getStarted
    : `${screens.getStarted}?${new URLSearchParams({ programme })}`;
}
