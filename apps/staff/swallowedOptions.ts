import type { ParseArgsOptionsConfig } from 'node:util';

/**
 * Returns the options of these commands that npm took for itself: `npm run operator refund JOIN --dry-run`, without `--` before the
 * options, hands over `refund JOIN` alone, and sets `npm_config_dry_run`. The command would do something else than was asked.
 */
export function swallowedOptions(
  commands: readonly { options?: ParseArgsOptionsConfig }[],
  env: NodeJS.ProcessEnv,
): string[] {
  const options = commands.flatMap((command) => Object.entries(command.options ?? {}));
  const taken = options.flatMap(([name, { default: byDefault }]) => {
    const value = valueAt(env, name);
    // npm sets an empty text for `--no-NAME`. It sets the same for options of its own that nobody gave, such as `yes`.
    if (byDefault === true) return value === undefined ? [] : [`--no-${name}`];
    return value ? [`--${name}`] : [];
  });
  return [...new Set(taken)];
}

/** npm's settings that a single letter turns on: `-p` is `--parseable`. Other letters of npm's are not needed here. */
const letters: Partial<Record<string, string>> = { a: 'all', l: 'long', p: 'parseable', y: 'yes' };
/** All letters that npm knows. */
const KNOWN = /^[acdfghilmnpqsvwy]+$/;

/** Returns the value that npm has set for an option; undefined if it has set none. */
function valueAt(env: NodeJS.ProcessEnv, option: string): string | undefined {
  const at = (name: string) => env[`npm_config_${name.replaceAll('-', '_')}`];
  const own = at(option);
  if (own !== undefined || option.length > 4) return own;
  // npm reads `--mp` as `-m -p`, and `--days` as `-d -a -y -s`.
  const settings = KNOWN.test(option) ? [...option].flatMap((letter) => letters[letter] ?? []) : [];
  if (settings.length > 0) return settings.every(at) ? at(settings[0]!) : undefined;
  // npm completes the beginning of one of its own names: `--to` becomes `--token-description`.
  return option === 'to' ? at('token-description') : undefined;
}
