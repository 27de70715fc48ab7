import { screens } from '#core/navigation.ts';
import { storedProgramme } from './session.ts';
import { theSite } from './site.ts';

/**
 * Returns the path of Get Started in the programme of this browser's join. If there is no join, or its programme is unknown or is
 * the society's default, the path has no programme, and Get Started shows the default one.
 */
export function getStartedPath(): string {
  const programme = storedProgramme();
  return programme === null || programme === theSite().defaultProgramme
    ? screens.getStarted
    : `${screens.getStarted}?${new URLSearchParams({ programme })}`;
}
