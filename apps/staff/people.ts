import { giveBack } from '#core/remedy.ts';
import type { CorrectableField } from '#core/studentDetails.ts';
import {
  type Correction,
  correctionSentences,
  correctPerson,
  previewCorrection,
} from '../server/people/correctPerson.ts';
import {
  keepApart,
  mergePersons,
  previewMerge,
  previewUnmerge,
  unmergePersons,
} from '../server/people/mergePersons.ts';
import {
  BOTH_HOLD,
  called,
  KEPT_APART,
  resultSentence,
  seenSentence,
} from '../server/people/mergeSentences.ts';
import { nobody, personAtHubspot, personNamed } from '../server/people/personNamed.ts';
import type { Database } from '../server/platform/database/client.ts';
import { Failed } from '../server/platform/failed.ts';
import { command, Misuse } from './command.ts';
import { agree, print, printAll } from './print.ts';
import { commandOf } from './sentences/remedies.ts';

/** The options of `person correct`, by field. */
const optionOf = {
  firstName: 'first-name',
  middleName: 'middle-name',
  lastName: 'last-name',
  personalEmail: 'email',
  schoolEmail: 'school-email',
  country: 'country',
  address1: 'address',
  address2: 'address2',
  city: 'city',
  state: 'state',
  zipcode: 'zip',
} as const satisfies Record<CorrectableField, string>;

const correctable = Object.values(optionOf);

export const personCommands = [
  command({
    usage: `person correct JOIN|CONTACT ${correctable.map((name) => `[--${name} TEXT]`).join(' ')} [--resend] [--dry-run | --yes]`,
    args: ['JOIN|CONTACT'],
    flags: ['resend', 'dry-run', 'yes'],
    texts: Object.fromEntries(correctable.map((name) => [name, '[TEXT]'])),
    summary:
      'Correct what is known of a person: old and new values are shown, and it is done when you agree (--yes: without asking; --dry-run: only shown). Letters still to come, papers, HubSpot and find follow, and links that were mailed to an old address end. --resend: the confirmation is sent again.',
    async run(deps, [named], { resend, ...options }) {
      const values = options as Record<string, string | boolean | undefined>;
      const change = Object.fromEntries(
        Object.entries(optionOf).flatMap(([field, name]) =>
          typeof values[name] === 'string' ? [[field, values[name]]] : [],
        ),
      );
      if (Object.keys(change).length === 0 && !resend) throw new Misuse('Nothing to correct was named.');
      const personId = await idOf(deps.database, named);
      const seen = await previewCorrection(deps, personId, change);
      printCorrection(seen, resend);
      if (seen.fields.length === 0 && !(resend && seen.confirmations > 0)) {
        print('All of that is so already.');
        return;
      }
      await agree('Correct it?', 'corrected', options);
      await correctPerson(deps, personId, change, { seen, resends: resend });
      print('Corrected. HubSpot is told within a minute.');
    },
  }),
  command({
    usage: 'person merge JOIN|CONTACT JOIN|CONTACT [--dry-run | --yes]',
    args: ['JOIN|CONTACT', 'JOIN|CONTACT'],
    flags: ['dry-run', 'yes'],
    summary:
      'Say that two are one person: who remains is shown, and it is done when you agree (--yes: without asking; --dry-run: only shown). All that is of the other becomes theirs, in HubSpot too. For a day, person unmerge undoes it.',
    async run(deps, [one, other], options) {
      const ids = [await personAtHubspot(deps, one), await personAtHubspot(deps, other)] as const;
      if (ids[0] === ids[1]) {
        print('They are one person already.');
        return;
      }
      const seen = await previewMerge(deps, ...ids);
      const { from, into, twice, isKeptApart } = seen;
      print(`Remains:    ${seenSentence(into)}`);
      print(`Is joined:  ${seenSentence(from)}`);
      print(resultSentence({ into }));
      if (isKeptApart) print(KEPT_APART);
      for (const { uuid, types } of twice) print(`${BOTH_HOLD}: ${commandOf(giveBack(uuid, types))}`);
      await agree('Join them?', 'joined', options);
      await mergePersons(deps, seen);
      print('They are one person. HubSpot is told within a minute.');
    },
  }),
  command({
    usage: 'person unmerge JOIN|CONTACT [--yes]',
    args: ['JOIN|CONTACT'],
    flags: ['yes'],
    summary:
      'Undo the last person merge of somebody, for a day after it: they are two again, in HubSpot too.',
    async run(deps, [named], options) {
      const personId = await idOf(deps.database, named);
      const seen = await previewUnmerge(deps, personId);
      print(`Is parted:  ${called(seen.from)}`);
      print(`Remains:    ${called(seen.into)}`);
      await agree('Undo the merge?', 'undone', options);
      const refused = await unmergePersons(deps, personId, seen);
      print('They are two persons again. HubSpot is told within a minute.');
      if (refused !== null) throw new Failed(refused);
    },
  }),
  command({
    usage: 'person keep-apart JOIN|CONTACT JOIN|CONTACT',
    args: ['JOIN|CONTACT', 'JOIN|CONTACT'],
    summary: 'Say that two who are likely the same are two, as father and son: reconcile names them no more.',
    async run(deps, [one, other]) {
      await keepApart(deps, await idOf(deps.database, one), await idOf(deps.database, other));
      print('They are kept apart.');
    },
  }),
];

/** Returns the number of the person of a join or a contact. Throws {@link Failed} if there is no such person. */
async function idOf(database: Database, named: string): Promise<number> {
  const id = await personNamed(database, named);
  if (id === null) throw new Failed(nobody(named));
  return id;
}

function printCorrection(correction: Correction, resends: boolean): void {
  for (const { field, from, to } of correction.fields)
    print(optionOf[field], `${from || '(empty)'} → ${to || '(empty)'}`);
  printAll(correctionSentences(correction, { resends }));
}
