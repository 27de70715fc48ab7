import type { Notice } from '#core/notice.ts';
import { giveAllBack } from '#core/remedy.ts';

/** Returns the notice about a paid join whose contact was already a member in HubSpot, so that the person may have paid twice. */
export function memberAlready(uuid: string, contactId: string): Notice {
  return { kind: 'member_already', subject: uuid, params: { contactId }, remedy: giveAllBack(uuid) };
}
