import type { Remedy } from './remedy.ts';
import type { StaffRole } from './staff.ts';

/** What a link at the desk points to: a person, and the number of one of their joins. */
export interface Place {
  personId: number;
  number: number;
}

/** A link to the page that solves a problem, and the lowest role that may use it. */
export interface Offer {
  name: string;
  path: string;
  role: StaffRole;
}

/** What the desk offers for a remedy: links, or a sentence if no page of the desk provides the remedy. */
export interface Offered {
  offers: Offer[];
  advice: string | null;
}

/** Finds the place of a join (by uuid), a payment or a refund. Null if no person has it. */
export interface Places {
  join(uuid: string): Place | null;
  payment(intentId: string): Place | null;
  refund(refund: string): Place | null;
}

const BY_OPERATOR = 'Whoever runs the server mends this.';

/** Returns the link to an action on a person's page, or on the page Today if the action is about no person. */
export function actionPath(
  personId: number | null,
  action: string,
  about: Record<string, string> = {},
): string {
  const query = new URLSearchParams({ do: action, ...about });
  return `${personId === null ? '/' : `/people/${personId}`}?${query}`;
}

/** Returns the links or the sentence that the desk offers for a remedy. */
export function deskOffers(remedy: Remedy | null, places: Places): Offered {
  if (remedy === null) return { offers: [], advice: null };
  const offer = (name: string, path: string, role: StaffRole = 'staff'): Offered => ({
    offers: [{ name, path, role }],
    advice: null,
  });
  const advise = (advice: string): Offered => ({ offers: [], advice });
  switch (remedy.do) {
    case 'give back': {
      const place = places.join(remedy.uuid);
      if (!place) return advise('Its join is erased: give it back by its payment.');
      const { types, items, isIneligible } = remedy;
      const about = {
        join: String(place.number),
        types: types.join(),
        items: items === 'all' ? items : items.join(),
        ...(isIneligible && { ineligible: '' }),
      };
      return offer('Refund', actionPath(place.personId, 'refund', about), 'finance');
    }
    case 'refund payment': {
      const payment = remedy.intentId;
      const personId = places.payment(payment)?.personId ?? null;
      return offer('Refund this payment', actionPath(personId, 'refund-payment', { payment }), 'finance');
    }
    case "refund in Stripe's dashboard":
      return advise("Give it back in Stripe's dashboard: nothing here gives back that alone.");
    case 'assign refund': {
      const personId = places.refund(remedy.refund)?.personId ?? null;
      const path = actionPath(personId, 'assign', { refund: remedy.refund });
      return offer('What was it for?', path, 'finance');
    }
    case 'settle': {
      const place = places.join(remedy.subject) ?? places.payment(remedy.subject);
      if (!place) return advise(BY_OPERATOR);
      const about = { join: String(place.number) };
      return offer('Settle', actionPath(place.personId, 'settle', about), 'finance');
    }
    case 'merge or keep apart': {
      const [place, other] = [places.join(remedy.uuid), places.join(remedy.other)];
      if (!place || !other) return advise('One of them is erased.');
      const about = { other: String(other.personId) };
      return {
        offers: [
          { name: 'They are one person', path: actionPath(place.personId, 'join', about), role: 'staff' },
          { name: 'They are two', path: actionPath(place.personId, 'keep-apart', about), role: 'staff' },
        ],
        advice: null,
      };
    }
    case 'reject finally': {
      const place = places.join(remedy.uuid);
      return place
        ? offer('Look at the transcript', `/transcripts/${place.personId}/${place.number}`)
        : advise(BY_OPERATOR);
    }
    case 'print certificate': {
      const place = places.join(remedy.uuid);
      if (!place) return advise(BY_OPERATOR);
      return offer('Certificate', actionPath(place.personId, 'certificate', { join: String(place.number) }));
    }
    case 'read story': {
      const place = places.join(remedy.uuid);
      return place ? offer('Read the story', `/people/${place.personId}/story`) : advise(BY_OPERATOR);
    }
    case 'retry at HubSpot':
    case 'look at what HubSpot refuses': {
      const place = 'uuid' in remedy && remedy.uuid !== null ? places.join(remedy.uuid) : null;
      return offer('Send to HubSpot again', actionPath(place?.personId ?? null, 'retry-hubspot'));
    }
    case 'reconcile':
      return advise('Money is compared with Stripe every night, and what differs is then listed.');
    case 'settle missing':
      return advise('Whoever runs the server makes again what Stripe knows.');
    case 'move to HubSpot account':
      return advise('If the society has moved to this account, whoever runs the server says so there.');
    case 'look at reports':
      return advise('Whoever runs the server looks at what browsers report.');
    case 'doctor':
    case 'set up':
    case 'migrate':
    case 'look at unknown documents':
    case 'set document key':
      return advise(BY_OPERATOR);
  }
}
