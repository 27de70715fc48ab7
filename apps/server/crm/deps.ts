import type { Deps as LetterDeps } from '../letters/deps.ts';
import type { Contacts } from './contacts.ts';
import type { Budget } from './hubspot/budget.ts';
import type { HubspotClient } from './hubspot/client.ts';

/**
 * What `crm` depends on. Its question: what does HubSpot know, and what do we send to it? All calls to HubSpot are made by its
 * client.
 */
export interface Deps extends LetterDeps {
  contacts: Contacts;
  /** The client for background work, for which no joiner waits. */
  hubspot: HubspotClient;
  /** The number of calls that HubSpot still allows, shared by all processes. */
  crmBudget: Budget;
}
