import { type CrmField, type FieldRules, laterFields } from '#core/crmFields.ts';
import type { Deps } from './deps.ts';
import type { HubspotClient } from './hubspot/client.ts';
import { CrmDenied } from './hubspot/errors.ts';

/** How long (ms) the list of missing properties is cached. */
const LACKING_MS = 10 * 60_000;

const lackingOf = new WeakMap<HubspotClient, { fields: readonly CrmField[]; until: number }>();

/**
 * Returns the society's field rules. Fields of `laterFields` whose property does not exist in HubSpot are never written.
 * HubSpot's list of properties is read again every ten minutes. The doctor tells staff which properties to create.
 */
export async function fieldsThere({ society, hubspot, now }: Deps): Promise<FieldRules> {
  const rules = society.crm.fields;
  let lacking = lackingOf.get(hubspot);
  if (!lacking || lacking.until < now().getTime()) {
    const names = await hubspot.getPropertyNames().catch(notTold);
    const fields = names
      ? laterFields.filter((field) => rules[field].property !== null && !names.has(rules[field].property))
      : [];
    lacking = { fields, until: now().getTime() + LACKING_MS };
    lackingOf.set(hubspot, lacking);
  }
  if (lacking.fields.length === 0) return rules;
  return {
    ...rules,
    ...Object.fromEntries(lacking.fields.map((field) => [field, { property: null, write: 'never' }])),
  };
}

/** Returns null if the token may not list properties; all properties are then assumed to exist. Rethrows any other error. */
function notTold(error: unknown): null {
  if (error instanceof CrmDenied && error.status === 403) return null;
  throw error;
}
