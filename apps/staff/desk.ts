import type { StaffRole } from '#core/staff.ts';
import { linkAddress, makeLink } from '../server/desk/links.ts';
import { Failed } from '../server/platform/failed.ts';
import { command } from './command.ts';
import { print } from './print.ts';

export const deskCommands = [
  command({
    usage: 'desk link NAME EMAIL --role staff|finance|owner',
    args: ['NAME', 'EMAIL'],
    texts: { role: 'staff|finance|owner' },
    summary:
      'Print a link that signs NAME in at the desk, once, within a day; somebody new gets the role. Needed for the first owner, and for whoever has lost all passkeys: owners make the other links at the desk.',
    async run(deps, [name, email], { role }) {
      const { desk } = deps.config;
      if (!desk) throw new Failed('There is no desk: DESK_URL is not set.');
      const token = await makeLink(deps, { name, email, role: role as StaffRole });
      print(linkAddress(desk.url, token));
      return true;
    },
  }),
];
