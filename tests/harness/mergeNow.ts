import { mergePersons, previewMerge } from '../../apps/server/people/mergePersons.ts';
import { personAtHubspot } from '../../apps/server/people/personNamed.ts';
import type { TestServer } from './testServer.ts';

/** Merges the persons of two joins or contacts, as `person merge` does, even while HubSpot may be receiving data about them. */
export async function mergeNow({ deps }: TestServer, one: string, other: string): Promise<void> {
  const seen = await previewMerge(deps, await personAtHubspot(deps, one), await personAtHubspot(deps, other));
  await mergePersons(deps, seen);
}
