import { plain } from '#core/cleanText.ts';
import { agrees, type Command, misused, readArgs } from '../platform/command.ts';
import {
  ChangedMeanwhile,
  type CorrectableField,
  type Correction,
  correctPerson,
  NotCorrectable,
  previewCorrection,
} from './correctPerson.ts';
import { isName, nobody, personNamed } from './personNamed.ts';

/** The options, by field. */
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

const options = {
  ...Object.fromEntries(Object.values(optionOf).map((name) => [name, { type: 'string' as const }])),
  resend: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const;

export const correctCommand: Command = {
  options,
  usage: `person correct JOIN|CONTACT ${Object.values(optionOf)
    .map((name) => `[--${name} TEXT]`)
    .join(' ')} [--resend] [--dry-run | --yes]`,
  summary:
    'Correct what is known of a person: old and new values are shown, and it is done when you agree (--yes: without asking; --dry-run: only shown). Letters still to come, papers, HubSpot and find follow, and links that were mailed to an old address end. --resend: the confirmation is sent again.',
  async run(args, { deps, database }) {
    const read = readArgs(args, options);
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
      tell(seen, resend);
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

function tell({ fields, joins, confirmations }: Correction, resends: boolean): void {
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
