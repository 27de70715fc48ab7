import { lookAtContacts } from '../../crm/followContacts.ts';
import { CrmRefused, CrmUnavailable } from '../../crm/hubspot/errors.ts';
import { isWaiting, parcelOf } from '../../membership/orders.ts';
import type { Deps } from '../deps.ts';
import { findPerson, type Person } from './findPerson.ts';
import { refusalsOf } from './underWay.ts';

/** What an erasure would do. */
export interface ErasurePlan {
  person: Person;
  /** Whether HubSpot could be asked about the contacts that joins of the person name and that have another email. */
  isAsked: boolean;
  /** Why nothing may be erased now, in one sentence for each reason. */
  refusals: string[];
  /** The joins that have paid for goods which were not sent yet. */
  unsent: Unsent[];
}

export interface Unsent {
  uuid: string;
  goods: string[];
}

/** Returns what an erasure of the person with this email would do. Changes nothing except the mirror. */
export async function planErasure(deps: Deps, email: string): Promise<ErasurePlan> {
  const found = await findPerson(deps, email);
  const isAsked = await lookAtOthers(deps, found);
  const person = found.others.length > 0 && isAsked ? await findPerson(deps, email) : found;
  return planOf(deps, person, isAsked);
}

/** Like {@link planErasure}, for a person who was found already, without asking HubSpot. */
export async function planOf(deps: Deps, person: Person, isAsked: boolean): Promise<ErasurePlan> {
  return {
    person,
    isAsked,
    refusals: await refusalsOf(deps.database, person.joins),
    unsent: await unsentOf(deps, person.joins),
  };
}

/**
 * Reads some contacts from HubSpot into the mirror: those that were named for the person's joins and that have another email in
 * the mirror. Since the mirror last read such a contact, a join may have written the person's email to it in HubSpot. Returns
 * false if HubSpot does not answer or refuses.
 */
async function lookAtOthers(deps: Deps, { others }: Person): Promise<boolean> {
  try {
    await lookAtContacts(deps, others);
    return true;
  } catch (error) {
    if (error instanceof CrmUnavailable || error instanceof CrmRefused) return false;
    throw error;
  }
}

async function unsentOf({ database, society }: Deps, joins: readonly string[]): Promise<Unsent[]> {
  const all: Unsent[] = [];
  for (const uuid of joins) {
    const parcel = await parcelOf(database, society, uuid);
    const goods = (parcel?.goods ?? []).filter(isWaiting).map(({ name }) => name);
    if (goods.length > 0) all.push({ uuid, goods });
  }
  return all;
}
