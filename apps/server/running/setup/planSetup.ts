import { noBudget } from '../../crm/hubspot/budget.ts';
import { hubspotClient } from '../../crm/hubspot/client.ts';
import type { Config } from '../../platform/config/config.ts';
import { askStripe } from '../../providers/stripe/account.ts';
import { stripeRegistry } from '../../providers/stripe/register.ts';
import { reportNothing } from '../../providers/trouble.ts';
import { readSociety } from '../../society/readSociety.ts';
import type { StandIns } from '../doctor/examine.ts';
import { planHubspot } from './planHubspot.ts';
import { planStripe } from './planStripe.ts';
import type { SetupPlan } from './step.ts';

/** Returns a plan for each provider, except for stand-ins, which need no setup. */
export async function planSetup(config: Config, standIns: StandIns): Promise<SetupPlan[]> {
  const plans: SetupPlan[] = [];
  if (!standIns.stripe) {
    const { stripe } = config.providers;
    const { publicUrl } = config;
    const domainName = new URL(publicUrl).hostname;
    const webhookUrls = [publicUrl, config.apiUrl].filter(Boolean).map((url) => `${url}/api/webhooks/stripe`);
    const account = await askStripe(stripe, domainName);
    plans.push(planStripe(account, { publicUrl, webhookUrls, domainName }, stripeRegistry(stripe)));
  }
  if (!standIns.hubspot) {
    const { fields } = (await readSociety(config.societyFile)).crm;
    const hubspot = hubspotClient(config.providers.hubspot, fields, noBudget, 'background', reportNothing);
    plans.push(await planHubspot(hubspot, fields));
  }
  return plans;
}
