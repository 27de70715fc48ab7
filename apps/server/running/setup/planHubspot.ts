import type { FieldRules } from '#core/crmFields.ts';
import type { ExistingProperty, HubspotClient } from '../../crm/hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from '../../crm/hubspot/errors.ts';
import { applyProperties, planProperties, wantedProperties } from './hubspotProperties.ts';
import type { SetupPlan, SetupStep } from './step.ts';

/**
 * Plans to create the contact properties that the HubSpot account lacks, although the field rules name them. Existing properties
 * are never changed.
 */
export async function planHubspot(hubspot: HubspotClient, rules: FieldRules): Promise<SetupPlan> {
  const provider = 'HubSpot';
  const existing = await propertiesOf(hubspot);
  if (typeof existing === 'string')
    return {
      provider,
      steps: [{ text: `${existing} See docs/reference.md, "HubSpot's properties".`, apply: null }],
      inOrder: [],
    };
  const plan = planProperties(existing, wantedProperties(rules));
  const steps: SetupStep[] = [
    ...plan.create.map((property) => ({
      text: `Make the contact property ${property.name} (${property.type}, group ${property.groupName}).`,
      apply: async () => {
        const [applied] = await applyProperties(hubspot, { ...plan, create: [property] });
        if (applied?.outcome === 'refused') throw new Error(applied.reason!);
        return `${property.name} is there.`;
      },
    })),
    ...plan.differ.map(({ text }) => ({ text, apply: null })),
  ];
  const { length } = plan.fine;
  return { provider, steps, inOrder: length === 0 ? [] : [`${length} contact properties.`] };
}

/** Returns the account's contact properties, or a sentence for staff if HubSpot does not return them. */
async function propertiesOf(hubspot: HubspotClient): Promise<ExistingProperty[] | string> {
  try {
    return (
      (await hubspot.getProperties()) ??
      'HubSpot does not know this version of its API. Check HUBSPOT_API_VERSION.'
    );
  } catch (error) {
    if (!(error instanceof CrmRefused || error instanceof CrmUnavailable)) throw error;
    return `HubSpot does not tell its contact properties (${error.message}). The key needs crm.schemas.contacts.read.`;
  }
}
