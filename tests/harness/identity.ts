import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { StudentDetails } from '#core/studentDetails.ts';
import { sendDue } from '../../apps/server/letters/sendLetters.ts';
import { refundJoin } from '../../apps/server/paying/refunds/refundJoin.ts';
import { atHubspot, contactIdOf, deliver } from './deliver.ts';
import { hubspotPeople } from './hubspotPeople.ts';
import { everything } from './refunds.ts';
import { runCommand } from './runCommand.ts';
import { newMember, newOrder, nominatedOrder, payOrder } from './steps.ts';
import type { TestServer } from './testServer.ts';

/**
 * Returns helpers for tests about the persons of joins: joins that began in different ways, and what is then known about their
 * persons.
 */
export function identityOn(server: TestServer) {
  const { deps } = server;
  const { person } = hubspotPeople(server);

  /** Makes a contact in HubSpot with an invite code, and makes the server read it. */
  async function invited(
    email: string,
    properties: Record<string, string> = {},
  ): Promise<{ id: string; code: string }> {
    const made = await person({ email, ...properties });
    await deps.contacts.refresh(made.id);
    return made;
  }

  /** Makes a paid join in a new browser, by default by a school's code. */
  const paid = (given: Partial<StudentDetails>, code?: string) => newMember(server, code, given);

  /** Begins a self-nomination and orders a membership in it. Anybody can do so with somebody else's email. */
  async function nominated(given: Partial<StudentDetails>) {
    const client = server.client();
    return { client, uuid: await nominatedOrder(client, { person: given }) };
  }
  async function paidNomination(given: Partial<StudentDetails>) {
    const { client, uuid } = await nominated(given);
    return { client, ...(await payOrder(server, client, uuid)) };
  }

  /** Begins a join by a contact's code in a new browser. Returns the status of the answer: 409 for a member. */
  async function beginByCode(contactId: string, invitationCode: string): Promise<number> {
    const body = { contactId, invitationCode, isTOLA: true };
    return (await server.client().call('initiateJoin', { body })).status;
  }

  /** Refunds all of a join, and updates HubSpot. */
  async function refund(uuid: string): Promise<void> {
    await refundJoin(deps, uuid, everything);
    await deliver(server);
  }

  /** Runs a staff command that must succeed. Returns its output. */
  async function run(t: TestContext, command: string, ...args: string[]): Promise<string> {
    const { code, out } = await runCommand(t, server, command, args);
    assert.equal(code, 0, out);
    return out;
  }

  const personOf = (uuid: string) =>
    deps.database
      .selectFrom('join_session')
      .innerJoin('person', 'person.id', 'person_id')
      .selectAll('person')
      .where('uuid', '=', uuid)
      .executeTakeFirstOrThrow();
  /** Returns the contact into which a join is written. */
  const contactOf = (uuid: string) => contactIdOf(server, uuid);
  /** Returns the membership status of a contact in HubSpot; null if there is none. */
  const statusAt = async (contactId: string) =>
    (await atHubspot(server, contactId, 'membership_status')).membership_status || null;
  const statusOf = async (uuid: string) => statusAt(await contactOf(uuid));
  const statusOfEmail = async (email: string) => {
    const contact = await server.hubspot.findByEmail(email);
    return contact ? statusAt(contact.id) : 'no contact';
  };

  /** Sends all letters that are due. Returns all that have arrived. */
  async function mail() {
    while (await sendDue(deps, deps.config.mail!));
    return server.letters();
  }
  const lettersTo = async (email: string) => (await mail()).filter(({ to }) => to === email);

  /** Makes a join by a school's code, with an order. Anybody can do so with somebody else's email. */
  const schoolJoin = (person: Partial<StudentDetails>) => newOrder(server, 'LINCOLN2026', person);

  /** Makes a paid join by a school's code, with store items or donations, and updates HubSpot. Returns its uuid. */
  async function pay(person: Partial<StudentDetails>, ...productUuids: string[]): Promise<string> {
    const { client, uuid } = await schoolJoin(person);
    for (const productUuid of productUuids)
      await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
    await payOrder(server, client, uuid);
    await deliver(server);
    return uuid;
  }

  /** Returns the id of the contact that a join has created. */
  async function ownContactOf(uuid: string): Promise<string> {
    const { contact_id, made_contact } = await personOf(uuid);
    assert.equal(made_contact, true);
    return contact_id!;
  }

  /** Returns the values of a contact's properties in HubSpot; null for an empty property. */
  async function atContact(id: string, properties: readonly string[]) {
    const held = await atHubspot(server, id, ...properties);
    return properties.map((name) => held[name] ?? null);
  }

  return {
    atContact,
    beginByCode,
    contactOf,
    invited,
    lettersTo,
    mail,
    nominated,
    ownContactOf,
    paid,
    paidNomination,
    pay,
    personOf,
    refund,
    run,
    schoolJoin,
    statusAt,
    statusOf,
    statusOfEmail,
  };
}
