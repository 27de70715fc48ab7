import type { FastifyInstance } from 'fastify';
import { isProviderEmail } from '#core/providerEmail.ts';
import { callWords, LINK_HOURS, roleWords } from '#core/staff.ts';
import { INVALID_EMAIL } from '#core/studentDetails.ts';
import { Failed } from '../platform/failed.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dayOf } from '../society/texts.ts';
import { csvPages, FILE_ROWS } from './csvPages.ts';
import type { Deps } from './deps.ts';
import { searchEvents } from './events.ts';
import { linkAddress, makeLink } from './links.ts';
import { serveDesk } from './serve.ts';
import { serveAction } from './serveAction.ts';
import { endAccess, listStaff, presentStaff, requireOtherOwner, setRole } from './staff.ts';

const ROWS = 50;
const NO_NAME = 'Please enter a name.';
const NO_CURSOR = 'This list cannot go on from there. Load the page again.';

/** Serves the calls of the screen Staff, which only owners may make. */
export function staffRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const about = ({ params }: { params: { id: string } }) => `staff ${params.id}`;

  serveDesk(app, deps, 'getStaff', async () => ({
    staff: (await listStaff(deps)).map(({ lastSeenAt, endedAt, ...staff }) => ({
      ...staff,
      lastSeenAt: lastSeenAt?.toISOString() ?? null,
      endedAt: endedAt?.toISOString() ?? null,
    })),
  }));

  serveAction(
    app,
    deps,
    'makeStaffLink',
    {
      async preview({ deps, body }) {
        const person = body.id === null ? body : await presentStaff(deps, body.id);
        const { name, email, role } = person;
        const errors = {
          ...(name === '' && { name: NO_NAME }),
          ...(!isProviderEmail(email) && { email: INVALID_EMAIL }),
        };
        if (Object.keys(errors).length > 0)
          throw new Refusal(400, Object.values(errors).join(' '), { errors });
        const former =
          body.id === null ? (await listStaff(deps)).find((each) => each.name === name) : undefined;
        if (former && !former.endedAt) throw new Failed(`${name} is among the staff already.`);
        const lines = [
          ...(former ? [`The access of ${name} had ended. It begins again.`] : []),
          `${name} ${body.id === null ? 'gets the role' : 'has the role'} ${role}, and may ${roleWords[role]}`,
          `The link signs one browser in, once, within ${LINK_HOURS} hours. It is shown once.`,
        ];
        return {
          lines,
          verb: 'Make the link',
          seen: { name, email, role, beginsAgain: former !== undefined },
        };
      },
      async act({ deps: ofStaff }, { beginsAgain, ...person }) {
        const token = await makeLink(ofStaff, person, { beginsAgain });
        return { lines: [], url: linkAddress(deps.deskUrl, token) };
      },
    },
    async ({ body: { id, name } }) => {
      const known = id ?? (await listStaff(deps)).find((each) => each.name === name)?.id;
      return known === undefined ? 'somebody new' : `staff ${known}`;
    },
  );

  serveAction(
    app,
    deps,
    'setStaffRole',
    {
      async preview({ deps, params, body: { role } }) {
        const staff = await presentStaff(deps, Number(params.id));
        if (staff.role === role) throw new Failed(`${staff.name} has the role ${role} already.`);
        if (staff.role === 'owner') await requireOtherOwner(deps.database, staff);
        return {
          lines: [`${staff.name}: ${staff.role} → ${role}`, `They may ${roleWords[role]}`],
          verb: 'Change role',
          seen: staff.role,
        };
      },
      async act({ deps, params, body: { role } }, from) {
        await setRole(deps, Number(params.id), { from, to: role });
        return { lines: [] };
      },
    },
    about,
  );

  serveAction(
    app,
    deps,
    'endStaffAccess',
    {
      async preview({ deps, params }) {
        const staff = await presentStaff(deps, Number(params.id));
        if (staff.role === 'owner') await requireOtherOwner(deps.database, staff);
        return {
          lines: [
            `${staff.name} is signed out everywhere at once. Their passkeys and links open nothing any more.`,
            'What they did stays in the list.',
          ],
          verb: 'End access',
          seen: null,
        };
      },
      async act({ deps, params }) {
        await endAccess(deps, Number(params.id));
        return { lines: [] };
      },
    },
    about,
  );

  serveDesk(app, deps, 'searchEvents', async ({ body: { next, ...filter } }) => {
    if (next !== undefined && !/^\d{1,18}$/.test(next)) throw new Refusal(400, NO_CURSOR);
    const { rows, more } = await searchEvents(deps, filter, { most: ROWS, before: next ?? null });
    return {
      rows: rows.map(({ id: _, at, name, action, subject, outcome }) => ({
        at: at.toISOString(),
        name: name ?? 'unknown',
        what: callWords(action),
        subject,
        person: subject !== null && /^\d+$/.test(subject) ? Number(subject) : null,
        outcome,
      })),
      next: more ? rows.at(-1)!.id : null,
    };
  });

  serveDesk(app, deps, 'getEventsFile', ({ query }) => {
    const pieces = csvPages(['when', 'who', 'what', 'about', 'outcome'], async (before: string | null) => {
      const page = await searchEvents(deps, query, { most: FILE_ROWS, before });
      return {
        cells: page.rows.map(({ at, name, action, subject, outcome }) => [
          at.toISOString(),
          name ?? 'unknown',
          callWords(action),
          subject ?? '',
          outcome,
        ]),
        next: page.more ? page.rows.at(-1)!.id : null,
      };
    });
    return { name: `what-staff-did-${dayOf(deps.society, deps.now())}.csv`, pieces };
  });
}
