import { type RawBuilder, sql } from 'kysely';

/**
 * SQL assignments for a join whose details get this email. The join may have been written into a contact that was found by
 * another, earlier email. The join is then detached from that contact, and HubSpot is searched for the new email. A contact that
 * the join created stays the join's.
 */
export function leaveContactOfOther(email: string): RawBuilder<unknown> {
  const isOfOtherEmail = sql`(not owns_hubspot_contact and lower(details ->> 'personalEmail') <> ${email.toLowerCase()})`;
  return sql`
    hubspot_contact_id = case when ${isOfOtherEmail} then null else hubspot_contact_id end,
    owns_hubspot_contact = case when ${isOfOtherEmail} then null else owns_hubspot_contact end,
    crm_known = case when ${isOfOtherEmail} then '{}' when crm_known = '{}' then coalesce((select profile from contact where contact.id = contact_id), '{}') else crm_known end`;
}
