import type { Config } from '../server/platform/config/config.ts';
import { permissions, restrictedKeyPage } from '../server/providers/stripe/permissions.ts';
import { type StandIns, standInsOf } from '../server/running/doctor/examine.ts';
import { planSetup } from '../server/running/setup/planSetup.ts';
import { loneCommand } from './command.ts';
import { agree, print } from './print.ts';

export const setupCommands = [
  loneCommand({
    usage: 'setup [--dry-run | --yes]',
    flags: ['dry-run', 'yes'],
    summary:
      "Set up the providers' accounts: what is missing is shown, and done when you agree (--yes: without asking; --dry-run: only shown).",
    run: ({ config }, _, options) => setUp(config, options),
  }),
];

/** Prints the steps, and performs them if the person agrees. Returns whether nothing is left to do. */
export async function setUp(
  config: Config,
  options: { yes: boolean; 'dry-run': boolean },
  standIns: StandIns = standInsOf(config),
): Promise<boolean> {
  const { secretKey } = config.providers.stripe;
  if (standIns.stripe) print('Stripe is a stand-in on this machine, and needs no setup.');
  else if (!secretKey.startsWith('rk_')) printKeyPage(/^sk_live_/.test(secretKey));
  if (standIns.hubspot) print('HubSpot is a stand-in on this machine, and needs no setup.');
  const plans = await planSetup(config, standIns);
  const steps = plans.flatMap(({ steps }) => steps);
  for (const { provider, steps, inOrder } of plans) {
    for (const line of inOrder) print(`${provider}: in order: ${line}`);
    for (const { text, apply } of steps) print(`${provider}: ${apply ? 'to do' : 'by hand'}: ${text}`);
  }
  const doable = steps.flatMap(({ text, apply }) => (apply ? [{ text, apply }] : []));
  if (doable.length === 0) {
    print(steps.length === 0 ? 'Everything is set up.' : 'Nothing is left to do here but by hand.');
    return steps.length === 0;
  }
  if (options['dry-run']) {
    print('Nothing was changed.');
    return false;
  }
  await agree('Do this?', 'changed', options);
  let isDone = steps.length === doable.length;
  for (const { text, apply } of doable) {
    try {
      print(`done: ${await apply()}`);
    } catch (error) {
      isDone = false;
      print(`refused: ${text} ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return isDone;
}

/** Prints the URL at which staff create a restricted key: the server needs fewer permissions than the secret key has. */
function printKeyPage(live: boolean): void {
  print(`Stripe: the server needs no more than a restricted key: ${restrictedKeyPage({ live })}`);
  for (const { name, access, why, word } of permissions)
    print(`  ${access.padEnd(5)}  ${name}, for ${why}${word === null ? ' (tick it by hand)' : ''}`);
}
