import { operatorRefund } from '#core/refunds.ts';

/** Returns the notice about a paid join whose contact was already a member in HubSpot, so that the person may have paid twice. */
export function memberAlready(uuid: string, contactId: string): { kind: string; message: string } {
  return {
    kind: 'member_already',
    message: `Join ${uuid} was paid, while HubSpot already said that its contact ${contactId} is a member. If they paid twice, give this join back, and set the status in HubSpot again afterwards: ${operatorRefund(uuid, '--upgrade', '--items all')}`,
  };
}
