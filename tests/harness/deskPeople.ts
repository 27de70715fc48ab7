import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import type { DeskBrowser } from './desk.ts';
import { newOrder } from './steps.ts';
import type { TestServer } from './testServer.ts';

/** A store item with goods. */
const PIN = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

/** Returns helpers for tests of what the desk shows about persons. */
export function deskPeopleOn(server: TestServer) {
  const { database } = server.deps;

  /** Returns the number of a join's person. */
  async function idOf(uuid: string): Promise<number> {
    const { rows } = await sql<{
      id: number;
    }>`select person_id::int as id from join_session where uuid = ${uuid}`.execute(database);
    return rows[0]!.id;
  }

  let named = 0;
  /** Returns a person whose name and email nobody else has. */
  function somebody(lastName = `Unique${++named}x`) {
    return { firstName: 'Ann', lastName, personalEmail: `${lastName.toLowerCase()}@example.com` };
  }

  /** Makes a join with a membership and a pin in its order. */
  async function orderedPin(person = somebody()) {
    const { client, uuid } = await newOrder(server, 'LINCOLN2026', person);
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: PIN } });
    return { client, uuid, person };
  }

  /** Returns the answer that the desk's browser gets about a person. */
  async function personAt(browser: DeskBrowser, id: number): Promise<DeskData<'getPerson'>> {
    const { data, status, message } = await browser.call('getPerson', { params: { id: String(id) } });
    assert.equal(status, 200, message!);
    return data;
  }

  return { idOf, somebody, orderedPin, personAt };
}
