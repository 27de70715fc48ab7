import type { Config } from '../server/platform/config/config.ts';
import { permissions, restrictedKeyPage } from '../server/providers/stripe/permissions.ts';
import { type StandIns, standInsOf } from '../server/running/doctor/examine.ts';
import { planSetup } from '../server/running/setup/planSetup.ts';
import { askPerson, type LoneCommand, misused, readArgs } from './command.ts';

const setupOptions = { yes: { type: 'boolean' }, 'dry-run': { type: 'boolean' } } as const;

export const setupCommand: LoneCommand = {
  options: setupOptions,
  usage: 'setup [--dry-run | --yes]',
  summary:
    "Set up the providers' accounts: what is missing is shown, and done when you agree (--yes: without asking; --dry-run: only shown).",
  async runAlone(args, config) {
    const read = readArgs(args, setupOptions);
    if (!read || read.positionals.length > 0) return misused(setupCommand);
    const { yes = false, 'dry-run': isTrial = false } = read.values;
    if (yes && isTrial) return misused(setupCommand);
    return setUp(config, {
      agree: isTrial ? async () => false : yes ? async () => true : () => askPerson('Do this?'),
      isTrial,
    });
  },
};

/** Prints the steps, and takes them if the person agrees. Returns the exit status: 0 if nothing is left to do, otherwise 1. */
export async function setUp(
  config: Config,
  {
    agree,
    isTrial,
    standIns = standInsOf(config),
    say = (line) => console.log(line),
  }: {
    agree: () => Promise<boolean>;
    isTrial: boolean;
    standIns?: StandIns;
    say?: (line: string) => void;
  },
): Promise<0 | 1> {
  const { secretKey } = config.providers.stripe;
  if (standIns.stripe) say('Stripe is a stand-in on this machine, and needs no setup.');
  else if (!secretKey.startsWith('rk_')) sayKeyPage(/^sk_live_/.test(secretKey), say);
  if (standIns.hubspot) say('HubSpot is a stand-in on this machine, and needs no setup.');
  const plans = await planSetup(config, standIns);
  const steps = plans.flatMap(({ steps }) => steps);
  for (const { provider, steps, inOrder } of plans) {
    for (const line of inOrder) say(`${provider}: in order: ${line}`);
    for (const { text, apply } of steps) say(`${provider}: ${apply ? 'to do' : 'by hand'}: ${text}`);
  }
  const doable = steps.flatMap(({ text, apply }) => (apply ? [{ text, apply }] : []));
  if (doable.length === 0) {
    say(steps.length === 0 ? 'Everything is set up.' : 'Nothing is left to do here but by hand.');
    return steps.length === 0 ? 0 : 1;
  }
  if (!(await agree())) {
    say(isTrial ? 'Nothing was changed.' : 'Nothing was changed: say yes, or give --yes.');
    return 1;
  }
  let isDone = steps.length === doable.length;
  for (const { text, apply } of doable) {
    try {
      say(`done: ${await apply()}`);
    } catch (error) {
      isDone = false;
      say(`refused: ${text} ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return isDone ? 0 : 1;
}

/** Prints the URL at which staff create a restricted key: the server needs fewer permissions than the secret key has. */
function sayKeyPage(live: boolean, say: (line: string) => void): void {
  say(`Stripe: the server needs no more than a restricted key: ${restrictedKeyPage({ live })}`);
  for (const { name, access, why, word } of permissions)
    say(`  ${access.padEnd(5)}  ${name}, for ${why}${word === null ? ' (tick it by hand)' : ''}`);
}
