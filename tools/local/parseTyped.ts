import { type ParseArgsConfig, parseArgs } from 'node:util';
import { npmSettings } from '../../apps/server/platform/config/config.ts';
import { swallowedOptions } from '../../apps/staff/swallowedOptions.ts';

/**
 * Reads the options and arguments of a program that is started as `command`, such as "npm test --". Throws a sentence for wrong
 * options, and for an option that npm took for itself because `--` was missing before it.
 */
export function parseTyped<Config extends ParseArgsConfig>(
  command: string,
  config: Config,
  settings = npmSettings(),
): ReturnType<typeof parseArgs<Config>> {
  const [swallowed] = swallowedOptions([{ flags: Object.keys(config.options ?? {}) }], settings);
  if (swallowed)
    throw new Error(
      `npm has taken ${swallowed} for itself, so nothing was done. Type it after --: ${command} ${swallowed}`,
    );
  return parseArgs(config);
}
