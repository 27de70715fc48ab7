import { plain } from '#core/cleanText.ts';
import { giveBack } from '#core/remedy.ts';
import {
  ChangedMeanwhile,
  type CorrectableField,
  type Correction,
  correctPerson,
  NotCorrectable,
  previewCorrection,
} from '../server/people/correctPerson.ts';
import {
  keepApart,
  mergePersons,
  type Named,
  NotMergeable,
  previewMerge,
  previewUnmerge,
  type Seen,
  unmergePersons,
} from '../server/people/mergePersons.ts';
import { isName, nobody, personAtHubspot, personNamed } from '../server/people/personNamed.ts';
import { Failed } from '../server/platform/failed.ts';
import { agrees, type Command, misused, readArgs } from './command.ts';
import { failureSentence } from './sentences/failures.ts';
import { commandOf } from './sentences/remedies.ts';

/** The correctOptions, by field. */
const optionOf: Record<CorrectableField, string> = {
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
};

const correctOptions = {
  ...Object.fromEntries(Object.values(optionOf).map((name) => [name, { type: 'string' as const }])),
  resend: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const;

export const correctCommand: Command = {
  options: correctOptions,
  usage: `person correct JOIN|CONTACT ${Object.values(optionOf)
    .map((name) => `[--${name} TEXT]`)
    .join(' ')} [--resend] [--dry-run | --yes]`,
  summary:
    'Correct what is known of a person: old and new values are shown, and it is done when you agree (--yes: without asking; --dry-run: only shown). Letters still to come, papers, HubSpot and find follow, and links that were mailed to an old address end. --resend: the confirmation is sent again.',
  async run(args, { deps, database }) {
    const read = readArgs(args, correctOptions);
    const [named, ...more] = read?.positionals ?? [];
    if (!read || !isName(named) || more.length > 0) return misused(correctCommand);
    const values = read.values as Record<string, string | boolean | undefined>;
    const { yes, resend, 'dry-run': isTrial } = read.values;
    if (yes && isTrial) return misused(correctCommand);
    const change = Object.fromEntries(
      Object.entries(optionOf).flatMap(([field, name]) =>
        typeof values[name] === 'string' ? [[field, values[name]]] : [],
      ),
    );
    if (Object.keys(change).length === 0 && !resend)
      return misused(correctCommand, 'Nothing to correct was named.');
    const personId = await personNamed(database, named);
    if (personId === null) {
      console.error(nobody(named));
      return 1;
    }
    try {
      const seen = await previewCorrection(deps, personId, change);
      tellCorrection(seen, resend);
      if (seen.fields.length === 0 && !(resend && seen.confirmations > 0)) {
        console.log('All of that is so already.');
        return 0;
      }
      if (isTrial) return 0;
      if (!(await agrees('Correct it?', { yes, done: 'corrected' }))) return 1;
      await correctPerson(deps, personId, change, { seen, resends: resend });
      console.log('Corrected. HubSpot is told within a minute.');
      return 0;
    } catch (error) {
      if (error instanceof ChangedMeanwhile)
        console.error('Somebody has changed the person meanwhile: look again.');
      else if (error instanceof NotCorrectable) console.error(error.message);
      else throw error;
      return 1;
    }
  },
};

function tellCorrection({ fields, joins, confirmations }: Correction, resends: boolean): void {
  for (const { field, from, to } of fields)
    console.log(plain(`${optionOf[field]}  ${from || '(empty)'} → ${to || '(empty)'}`));
  if (fields.some(({ field }) => field === 'personalEmail')) {
    if (joins.length > 0) console.log('Links in letters that were mailed before end.');
    console.log("Stripe's receipts went to the address of before, and stay so.");
  }
  if (resends)
    console.log(
      `Sent again: ${confirmations === 1 ? 'the confirmation' : `${confirmations} confirmations`}.`,
    );
}

const mergeOptions = {
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const;

export const mergeCommand: Command = {
  options: mergeOptions,
  usage: 'person merge JOIN|CONTACT JOIN|CONTACT [--dry-run | --yes]',
  summary:
    'Say that two are one person: who remains is shown, and it is done when you agree (--yes: without asking; --dry-run: only shown). All that is of the other becomes theirs, in HubSpot too. For a day, person unmerge undoes it.',
  async run(args, { deps }) {
    const read = readArgs(args, mergeOptions);
    const [one, other, ...more] = read?.positionals ?? [];
    if (!read || !isName(one) || !isName(other) || more.length > 0) return misused(mergeCommand);
    if (read.values.yes && read.values['dry-run']) return misused(mergeCommand);
    return said(async () => {
      const ids = [await personAtHubspot(deps, one), await personAtHubspot(deps, other)] as const;
      if (ids[0] === ids[1]) {
        console.log('They are one person already.');
        return 0;
      }
      const seen = await previewMerge(deps, ...ids);
      const { from, into, twice } = seen;
      console.log(plain(`Remains:    ${lineOf(into)}`));
      console.log(plain(`Is joined:  ${lineOf(from)}`));
      if (into.contactId !== null)
        console.log(
          `What was bought is written into contact ${into.contactId}, with name, address and email.`,
        );
      if (twice)
        console.log(
          `Both hold one, and pay for both until you give one back: ${commandOf(giveBack(twice.uuid, twice.types))}`,
        );
      if (read.values['dry-run']) return 0;
      if (!(await agrees('Join them?', { yes: read.values.yes, done: 'joined' }))) return 1;
      await mergePersons(deps, seen);
      console.log('They are one person. HubSpot is told within a minute.');
      return 0;
    });
  },
};

export const unmergeCommand: Command = {
  options: { yes: mergeOptions.yes },
  usage: 'person unmerge JOIN|CONTACT [--yes]',
  summary: 'Undo the last person merge of somebody, for a day after it: they are two again, in HubSpot too.',
  async run(args, { deps, database }) {
    const read = readArgs(args, { yes: mergeOptions.yes });
    const [named, ...more] = read?.positionals ?? [];
    if (!read || !isName(named) || more.length > 0) return misused(unmergeCommand);
    return said(async () => {
      const personId = await personNamed(database, named);
      if (personId === null) throw new NotMergeable(nobody(named));
      const seen = await previewUnmerge(deps, personId);
      const { from, into } = seen;
      console.log(plain(`Is parted:  ${called(from)}`));
      console.log(plain(`Remains:    ${called(into)}`));
      if (!(await agrees('Undo the merge?', { yes: read.values.yes, done: 'undone' }))) return 1;
      const refused = await unmergePersons(deps, personId, seen);
      console.log('They are two persons again. HubSpot is told within a minute.');
      if (refused === null) return 0;
      console.error(plain(refused));
      return 1;
    });
  },
};

export const keepApartCommand: Command = {
  usage: 'person keep-apart JOIN|CONTACT JOIN|CONTACT',
  summary: 'Say that two who are likely the same are two, as father and son: reconcile names them no more.',
  async run([one, other, ...more], { deps, database }) {
    if (!isName(one) || !isName(other) || more.length > 0) return misused(keepApartCommand);
    return said(async () => {
      const [first, second] = [await personNamed(database, one), await personNamed(database, other)];
      if (first === null) throw new NotMergeable(nobody(one));
      if (second === null) throw new NotMergeable(nobody(other));
      await keepApart(deps, first, second);
      console.log('They are kept apart.');
      return 0;
    });
  },
};

const called = ({ name, email }: Named) => `${name ?? 'no name'}, ${email ?? 'no email'}`;

function lineOf({ name, email, contactId, joins, held }: Seen): string {
  const count = joins.length === 1 ? '1 join' : `${joins.length} joins`;
  return [
    called({ name, email }),
    contactId === null ? 'no contact in HubSpot' : `contact ${contactId}`,
    count,
    ...held.map(({ uuid, type }) => `holds a ${type.replace('_', ' ')} by ${uuid}`),
  ].join(', ');
}

/** Runs a command; prints the sentence of a refusal. */
async function said(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    console.error(failureSentence(error));
    return 1;
  }
}
