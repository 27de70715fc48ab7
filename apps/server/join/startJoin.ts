import { type RawBuilder, sql } from 'kysely';
import type { HeldJoin } from '#core/holding.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { ELIGIBILITY_FAILED, fallback } from '#core/sentences.ts';
import { linkedContact } from '../crm/linkedContact.ts';
import { partUnproven } from '../crm/partUnproven.ts';
import type { Deps } from '../deps.ts';
import {
  type CodeAttempt,
  countingAttempt,
  inTurn,
  isUsable,
  mayAttempt,
  tooManyAttempts,
} from '../eligibility/codeAttempts.ts';
import type { LinkSignature } from '../links/links.ts';
import type { Origin } from '../platform/database/types.ts';
import { TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { askAboutMember } from '../session/askAboutMember.ts';
import { isAmong } from '../session/holding.ts';
import { alreadyMember, isMemberByMirrorAlone, isProvenMember, personOf } from '../session/members.ts';
import { stateAllows } from '../session/states.ts';
import type { Society } from '../society/society.ts';

export interface StartedJoin {
  uuid: string;
  programme: string;
}

/** The programme for which a caller asks: by its key, or only by `isTOLA`, which may fit several programmes. */
interface Asked {
  programme?: string | null | undefined;
  isTOLA: boolean;
}

const PROGRAMME_CLOSED =
  'The program of this page is not open to new members. Please reload the page, and begin again.';
const CONFIRM_ELIGIBILITY = 'Please confirm that you meet the eligibility requirements.';

/**
 * Starts a join by a personal invite code. The code must lead to the contact and not have expired, and the contact must not be a
 * member. If the browser holds an open join of the contact (among `joinsOfBrowser`), that join is continued instead.
 */
export async function startInvitedJoin(
  deps: Deps,
  given: {
    contactId: string;
    invitationCode: string;
    address: string;
    joinsOfBrowser: readonly HeldJoin[];
  } & Asked,
): Promise<StartedJoin> {
  return startByCode(deps, 'invite', {
    ...given,
    programme: programmeFor(deps.society, given),
  });
}

/** Starts a join by a school's code, which may be used any number of times. If the invitation has a programme, the join gets it. */
export async function startSchoolJoin(
  deps: Deps,
  given: { invitationCode: string; address: string },
): Promise<StartedJoin> {
  return startByCode(deps, 'school', {
    ...given,
    contactId: null,
    programme: deps.society.defaultProgramme,
    joinsOfBrowser: [],
  });
}

/** Starts a join by self-nomination, of a person of its own. */
export async function startSelfNomination(
  deps: Deps,
  given: { hasConfirmedEligibility: boolean; address: string } & Asked,
): Promise<StartedJoin> {
  if (!given.hasConfirmedEligibility)
    throw new Refusal(400, CONFIRM_ELIGIBILITY, { errors: { hasConfirmedEligibility: CONFIRM_ELIGIBILITY } });
  const programme = programmeFor(deps.society, given);
  const addressHash = deps.hashAddress(given.address);
  const { rows } = await sql<{ uuid: string }>`
    with person as (
      insert into person (profile) select '{}' where ${joinsUnderLimit(deps, 'address_hash', addressHash)} returning id
    )
    insert into join_session (origin, programme, person_id, address_hash)
    select 'self_nomination', ${programme}, id, ${addressHash} from person
    returning uuid`.execute(deps.database);
  if (!rows[0]) throw tooMany(deps);
  return { uuid: rows[0].uuid, programme };
}

/**
 * Starts a join by a link to a contact, in the programme of the contact's newest invitation. If no join may begin in that
 * programme, the link is refused, as a code of the programme is. If the browser holds an open join of the contact (among
 * `joinsOfBrowser`), that join is continued instead.
 */
export async function startLinkedJoin(
  deps: Deps,
  given: {
    contactId: string;
    signature: LinkSignature;
    address: string;
    joinsOfBrowser: readonly HeldJoin[];
  },
): Promise<StartedJoin> {
  const link = deps.links.check({ kind: 'init', contactId: given.contactId }, given.signature);
  await linkedContact(deps, given.contactId, link, fallback.initJoin);
  const addressHash = deps.hashAddress(given.address);
  const { defaultProgramme, openProgrammes } = deps.society;
  const programme = sql<string>`coalesce((select programme from invitation where person_id = person.id order by created_at desc limit 1), ${defaultProgramme})`;
  const isOpen = (key: RawBuilder<string>) => sql<boolean>`${key} = any(${openProgrammes}::text[])`;
  return startOrRefuse(
    deps,
    sql`
    with invited as (
      select id as person_id, ${programme} as programme from person
      where id = ${personOf(sql`${given.contactId}`)} and not ${isProvenMember('person.id')}
    ), ${continuing(given.joinsOfBrowser)}, started as (
      insert into join_session (origin, programme, person_id, address_hash)
      select 'link', programme, person_id, ${addressHash}
      from invited
      where ${isOpen(sql`programme`)} and not exists (select from continued) and ${joinsUnderLimit(deps, 'address_hash', addressHash)}
      returning uuid, programme, ${HAS_STRAYS}
    ) ${CONTINUED_OR_STARTED}`,
    () =>
      sql<Invited>`
        select ${isProvenMember('person.id')} as is_member, false as is_by_mirror_alone,
          ${isProvenMember('person.id')} or ${isOpen(programme)} as is_invited, true as is_within
        from person where id = ${personOf(sql`${given.contactId}`)}`.execute(deps.database),
    given,
  );
}

async function startByCode(
  deps: Deps,
  origin: Extract<Origin, 'invite' | 'school'>,
  {
    invitationCode,
    contactId,
    programme,
    address,
    joinsOfBrowser,
  }: {
    invitationCode: string;
    contactId: string | null;
    programme: string;
    address: string;
    joinsOfBrowser: readonly HeldJoin[];
  },
): Promise<StartedJoin> {
  const broken = inviteCodeError(invitationCode);
  if (broken) throw new Refusal(400, broken, { errors: { invitationCode: broken } });
  const code = normaliseInviteCode(invitationCode);
  const addressHash = deps.hashAddress(address);
  const attempt: CodeAttempt = { code, addressHash };
  // Only joins by a personal code are limited for each contact, since a school's code is meant to be shared. They are counted by
  // address, or whoever knows a code could keep its owner from joining.
  const codeUnderLimit =
    origin === 'invite'
      ? joinsUnderLimit(
          deps,
          'person_id',
          personOf(sql`${contactId}`),
          sql`and address_hash = ${addressHash}`,
        )
      : sql<boolean>`true`;
  const isOpen = sql`code = ${code} and person_id is not distinct from ${contactId === null ? null : personOf(sql`${contactId}`)} and ${isUsable(deps)}`;
  return startOrRefuse(
    deps,
    sql`
    with invited as (
      select person_id, code, school, programme from invitation
      where ${isOpen} and not ${isProvenMember('invitation.person_id')} and ${mayAttempt(deps, attempt)}
    ), ${continuing(joinsOfBrowser)}, beginning as (
      select * from invited
      where not exists (select from continued)
        and ${codeUnderLimit} and ${joinsUnderLimit(deps, 'address_hash', addressHash)}
    ), own as (
      insert into person (profile) select '{}' from beginning where person_id is null returning id
    ), started as (
      insert into join_session (origin, programme, person_id, invitation_code, school, address_hash)
      select ${origin}, coalesce(programme, ${programme}), coalesce(person_id, own.id), code, school, ${addressHash}
      from beginning left join own on true
      returning uuid, programme, ${HAS_STRAYS}
    ) ${CONTINUED_OR_STARTED}`,
    () =>
      inTurn(() =>
        sql<Invited>`
          with invited as (
            select true as is_invited, ${isProvenMember('invitation.person_id')} as is_member, ${isMemberByMirrorAlone('invitation.person_id')} as is_by_mirror_alone
            from invitation where ${isOpen}
          ), ${countingAttempt(deps, attempt, sql<boolean>`exists (select from invited)`)}
          select coalesce(is_invited, false) as is_invited, is_member, is_by_mirror_alone, is_within
          from attempt left join invited on true`.execute(deps.database),
      ),
    { contactId, address },
  );
}

/**
 * SQL for a CTE `continued` with the join that is continued, if there is one: the newest open join of the person in the CTE
 * `invited` that this browser holds. Only joins by a personal code or by a link to the details form are continued. Other joins
 * always start anew: a school's code is shared by many students, and a checkout link may sell something else.
 */
function continuing(joinsOfBrowser: readonly HeldJoin[]): RawBuilder<unknown> {
  return sql`continued as (
      select uuid, join_session.programme, ${HAS_STRAYS} from join_session join invited using (person_id)
      where ${isAmong(joinsOfBrowser)} and origin in ('invite', 'link') and ${stateAllows('readContact')}
      order by join_session.created_at desc limit 1
    )`;
}

/** SQL: the person of the join that starts or goes on, if their contact was created by a join; otherwise null. */
const HAS_STRAYS = sql`(select id from person where person.id = person_id and made_contact and origin in ('invite', 'link')) as strays_of`;

const CONTINUED_OR_STARTED = sql`select * from continued union all select * from started`;

interface Invited {
  /** False if the code or contact leads to no invitation that can be used. */
  is_invited: boolean;
  is_member: boolean | null;
  is_by_mirror_alone: boolean | null;
  /** False if the address has tried too many wrong codes, so that the code is not checked. */
  is_within: boolean;
}

/**
 * Runs `insert`, which starts or continues a join. If `insert` returns no join, `askInvited` finds the reason: the invitation
 * does not exist, the contact is a member, or a limit is reached. If only the mirror says that the contact is a member, HubSpot
 * is asked, and `insert` runs once more.
 */
async function startOrRefuse(
  deps: Deps,
  insert: RawBuilder<StartedJoin & { strays_of: number | null }>,
  askInvited: () => Promise<{ rows: Invited[] }>,
  { contactId, address }: { contactId: string | null; address: string },
): Promise<StartedJoin> {
  const start = async () => {
    const [started] = (await insert.execute(deps.database)).rows;
    if (!started) return;
    const { strays_of, ...join } = started;
    if (strays_of !== null) await partUnproven(deps.database, strays_of);
    return join;
  };
  const find = async () => (await askInvited()).rows[0];
  let started = await start();
  if (started) return started;
  let found = await find();
  if (found && !found.is_within) throw tooManyAttempts(deps);
  if (
    contactId !== null &&
    found?.is_by_mirror_alone &&
    (await askAboutMember(deps, { contactId, address }))
  ) {
    started = await start();
    if (started) return started;
    found = await find();
  }
  if (!found?.is_invited) throw new Refusal(404, ELIGIBILITY_FAILED);
  throw found.is_member ? alreadyMember() : tooMany(deps);
}

function joinsUnderLimit(
  deps: Deps,
  column: 'address_hash' | 'person_id',
  value: string | RawBuilder<unknown>,
  and: RawBuilder<unknown> = sql``,
) {
  const limit =
    column === 'address_hash' ? deps.config.limits?.joinsPerAddress : deps.config.limits?.joinsPerCode;
  if (!limit) return sql<boolean>`true`;
  return sql<boolean>`(
    select count(*) from (
      select from join_session where ${sql.ref(`join_session.${column}`)} = ${value} ${and}
        and created_at > now() - make_interval(mins => ${limit.minutes}) limit ${limit.count}
    ) as recent) < ${limit.count}`;
}

function tooMany(deps: Deps): Refusal {
  return new Refusal(429, TOO_MANY, { retryAfter: (deps.config.limits?.joinsPerAddress.minutes ?? 1) * 60 });
}

/**
 * Returns the key of the programme for which the caller asks. A named programme that is not open is refused, since another one has
 * another price; nothing is looked up for that, so it says nothing about a code.
 */
function programmeFor(society: Society, { programme, isTOLA }: Asked): string {
  const { openProgrammes, defaultProgramme } = society;
  if (programme) {
    if (!openProgrammes.includes(programme)) throw new Refusal(409, PROGRAMME_CLOSED);
    return programme;
  }
  return openProgrammes.find((key) => society.programme(key).isTOLA === isTOLA) ?? defaultProgramme;
}
