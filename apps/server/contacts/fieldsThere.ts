import { type CrmField, type FieldRules, laterFields } from '#core/crmFields.ts';
import type { Deps } from '../deps.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { CrmDenied } from '../providers/hubspot/errors.ts';

/** How long (ms) the list of properties that HubSpot lacks is kept before HubSpot is asked again. */
const LACKING_MS = 10 * 60_000;

const lackingOf = new WeakMap<HubspotClient, { fields: readonly CrmField[]; until: number }>();

/**
 * The society's table of fields, without those of `laterFields` that have no property in HubSpot. HubSpot's list is read again
 * every ten minutes. The doctor command says which properties to create.
 */
export async function fieldsThere({ society, now }: Deps, hubspot: HubspotClient): Promise<FieldRules> {
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

/** Returns null if the token may not list properties: all of them are then assumed to exist. */
function notTold(error: unknown): null {
  if (error instanceof CrmDenied && error.status === 403) return null;
  throw error;
}
