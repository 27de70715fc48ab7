import type { Deps as LetterDeps } from '../letters/deps.ts';
import type { Contacts } from './contacts.ts';
import type { Budget } from './hubspot/budget.ts';
import type { HubspotClient } from './hubspot/client.ts';

/** What does HubSpot know, and what is it told? The only room that speaks to HubSpot. */
export interface Deps extends LetterDeps {
  contacts: Contacts;
  /** HubSpot itself, for work at which no joiner waits. */
  hubspot: HubspotClient;
  /** The number of calls that HubSpot still allows, shared by all processes. */
  crmBudget: Budget;
}
