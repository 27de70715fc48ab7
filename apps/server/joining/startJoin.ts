import { type RawBuilder, sql } from 'kysely';
import { type HeldJoin, isHeldIn } from '#core/holding.ts';
import { type InvitationFacts, openingOf } from '#core/invitation.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { type Holdings, isMember, isMemberByHubspotAlone } from '#core/people.ts';
import { ELIGIBILITY_FAILED, fallback } from '#core/sentences.ts';
import { linkedContact } from '../crm/linkedContact.ts';
import { partUnproven } from '../crm/partUnproven.ts';
import type { Origin } from '../platform/database/types.ts';
import { TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { LinkSignature } from '../session/links.ts';
import { alreadyMember, holdings, personOf } from '../session/members.ts';
import { stateAllows } from '../session/states.ts';
import type { Society } from '../society/society.ts';
import { askAboutMember } from './askAboutMember.ts';
import {
  type CodeAttempt,
  countAttempt,
  invitationFacts,
  mayAttempt,
  tooManyAttempts,
} from './codeAttempts.ts';
import type { Deps } from './deps.ts';

export interface StartedJoin {
  uuid: string;
  programme: string;
}

/** The programme for which a caller asks: by its key, or only by `isTOLA`, which may fit several programmes. */
interface Asked {
  programme?: string | null | undefined;
  isTOLA: boolean;
}

const PROGRAMME_CLOSED = 'This program is not open to new members. Please reload the page and start again.';
const CONFIRM_ELIGIBILITY = 'Please confirm that you meet the eligibility requirements.';

/**
 * Starts a join by a personal invite code. The code must lead to the contact and open a join ({@link openingOf}), and the contact
 * must not be a member. If the browser holds an open join of the contact (among `joinsOfBrowser`), that join is continued
 * instead.
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

/**
 * Starts a join by a school's code, which may be used any number of times. If the invitation has a programme, the join gets it.
 */
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

/** Starts a join by self-nomination, for a new person. */
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
  const isPerson = sql`person.id = ${personOf(sql`${given.contactId}`)}`;
  return startOrRefuse(deps, given.joinsOfBrowser, {
    readInvited: async () => {
      const { rows } = await sql<Invited & { programme: string }>`
        select coalesce((select programme from invitation where person_id = person.id order by created_at desc limit 1), ${defaultProgramme}) as programme,
          id as "personId", id::text as version, ${holdings('person.id')} as person, ${begunJoins('person.id', given.joinsOfBrowser)} as begun
        from person where ${isPerson}`.execute(deps.database);
      return rows[0] && { ...rows[0], isClosed: !openProgrammes.includes(rows[0].programme) };
    },
    start: ({ programme, version, isClosed }) => sql`
      insert into join_session (origin, programme, person_id, address_hash)
      select 'link', ${programme}, id, ${addressHash} from person
      where ${isPerson} and id::text = ${version} and not ${isClosed} and ${joinsUnderLimit(deps, 'address_hash', addressHash)}
      returning uuid, programme`,
  });
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
  // Only joins by a personal code are limited for each contact, since a school's code is meant to be shared. They are counted
  // separately for each address, or anybody who knows a code could keep its owner from joining.
  const codeUnderLimit =
    origin === 'invite'
      ? joinsUnderLimit(
          deps,
          'person_id',
          personOf(sql`${contactId}`),
          sql`and address_hash = ${addressHash}`,
        )
      : sql<boolean>`true`;
  const isOfContact = sql`code = ${code} and ${contactId === null ? sql`person_id is null` : sql`person_id = ${personOf(sql`${contactId}`)}`}`;
  // The invitation may be read several times, but the limit applies only to the first read. Asking HubSpot already counts as an
  // attempt.
  let isLetThrough = false;
  return startOrRefuse(deps, joinsOfBrowser, {
    readInvited: async () => {
      const { rows } = await sql<Invited & { invitation: InvitationFacts | null; isWithin: boolean }>`
        select ${invitationFacts} as invitation, invitation.xmin::text as version, ${holdings('invitation.person_id')} as person,
          person_id as "personId", ${begunJoins('invitation.person_id', joinsOfBrowser)} as begun, ${mayAttempt(deps, attempt)} as "isWithin"
        from (select) as always left join invitation on ${isOfContact}`.execute(deps.database);
      const { invitation, isWithin, ...invited } = rows[0]!;
      const isOpen = openingOf(invitation, deps.society.openProgrammes) === 'opens';
      const mayTry = isLetThrough || (isWithin && (isOpen || (await countAttempt(deps, attempt)).is_within));
      if (!mayTry) throw tooManyAttempts(deps);
      isLetThrough = true;
      return isOpen ? invited : undefined;
    },
    askAgain: contactId === null ? undefined : () => askAboutMember(deps, { contactId, address }),
    start: ({ version }) => sql`
      with beginning as (
        select person_id, code, school, coalesce(programme, ${programme}) as programme from invitation
        where ${isOfContact} and xmin::text = ${version}
          and ${codeUnderLimit} and ${joinsUnderLimit(deps, 'address_hash', addressHash)}
      ), own as (
        insert into person (profile) select '{}' from beginning where person_id is null returning id
      )
      insert into join_session (origin, programme, person_id, invitation_code, school, address_hash)
      select ${origin}, programme, coalesce(person_id, own.id), code, school, ${addressHash}
      from beginning left join own on true
      returning uuid, programme`,
  });
}

/**
 * SQL for the person's open joins that this browser may continue, the newest first. Only joins by a personal code or by a link to
 * the details form are continued. Other joins always start anew: a school's code is shared by many students, and a checkout link
 * may sell something else.
 */
function begunJoins(personId: string, joinsOfBrowser: readonly HeldJoin[]): RawBuilder<Begun[]> {
  return sql`coalesce((
    select json_agg(json_build_object('uuid', uuid, 'programme', begun.programme, 'isProven', proven_at is not null) order by created_at desc)
    from join_session begun where uuid = any(${joinsOfBrowser.map((join) => join.uuid)}::uuid[]) and begun.person_id = ${sql.ref(personId)}
      and origin in ('invite', 'link') and ${stateAllows('readContact')}), '[]')`;
}

interface Begun extends StartedJoin {
  isProven: boolean;
}

/** Somebody who may begin a join. */
interface Invited {
  /** Null for a school's code. */
  personId: number | null;
  person: Holdings | null;
  begun: Begun[];
  /** The version of the row that was read. `start` does nothing if the row has another version by now. */
  version: string;
  /** Whether no new join may begin, although one that was begun may continue. */
  isClosed?: boolean;
  programme?: string;
}

interface Steps {
  readInvited: () => Promise<Invited | undefined>;
  askAgain?: (() => Promise<boolean>) | undefined;
  start: (invited: Invited) => RawBuilder<StartedJoin>;
}

/**
 * Starts or continues the join of somebody who is invited, in three steps:
 * - `readInvited` returns what is known about them; undefined if nobody is invited.
 * - A member is refused. If only HubSpot's status says that they are a member, `askAgain` first reads the contact once more.
 * - A join of theirs that this browser holds is continued. Otherwise `start` begins one, unless a limit is reached. If the row
 *   that was read has changed meanwhile, all steps are repeated.
 */
async function startOrRefuse(
  deps: Deps,
  joinsOfBrowser: readonly HeldJoin[],
  steps: Steps,
): Promise<StartedJoin> {
  let invited = await steps.readInvited();
  if (invited && isMemberByHubspotAlone(invited.person) && (await steps.askAgain?.()))
    invited = await steps.readInvited();
  if (!invited) throw new Refusal(404, ELIGIBILITY_FAILED);
  if (isMember(invited.person, 'code')) throw alreadyMember();
  const held = invited.begun.find((join) =>
    joinsOfBrowser.some((mine) => mine.uuid === join.uuid && isHeldIn(mine, join)),
  );
  const started = held ?? (await steps.start(invited).execute(deps.database)).rows[0];
  if (!started) {
    if (invited.isClosed) throw new Refusal(404, ELIGIBILITY_FAILED);
    const now = await steps.readInvited();
    if (now?.version !== invited.version) return startOrRefuse(deps, joinsOfBrowser, steps);
    throw tooMany(deps);
  }
  if (invited.person?.isMadeByJoin) await partUnproven(deps.database, invited.personId!);
  return { uuid: started.uuid, programme: started.programme };
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
 * Returns the key of the programme for which the caller asks. A named programme that is not open is refused and not replaced by
 * another one, which may have another price. This needs no look-up, so the refusal reveals nothing about a code.
 */
function programmeFor(society: Society, { programme, isTOLA }: Asked): string {
  const { openProgrammes, defaultProgramme } = society;
  if (programme) {
    if (!openProgrammes.includes(programme)) throw new Refusal(409, PROGRAMME_CLOSED);
    return programme;
  }
  return openProgrammes.find((key) => society.programme(key).isTOLA === isTOLA) ?? defaultProgramme;
}
