/** The names of the options of a command or another program. */
interface WithOptions {
  flags?: readonly string[];
  texts?: Readonly<Record<string, string>>;
}

/**
 * Returns the options of these commands that npm took for itself: `npm run operator refund JOIN --dry-run`, without `--` before
 * the options, hands over `refund JOIN` alone, and sets `npm_config_dry_run`. The command would then do something else than its
 * user wanted.
 */
export function swallowedOptions(commands: readonly WithOptions[], env: NodeJS.ProcessEnv): string[] {
  const options = commands.flatMap(({ flags = [], texts = {} }) => [...flags, ...Object.keys(texts)]);
  return [...new Set(options)].filter((name) => isTaken(env, name)).map((name) => `--${name}`);
}

/** npm's settings that can be switched on by a single letter: `-p` is `--parseable`. npm's other letters are not needed here. */
const letters: Partial<Record<string, string>> = { a: 'all', l: 'long', p: 'parseable', y: 'yes' };
/** All letters that npm knows. */
const KNOWN = /^[acdfghilmnpqsvwy]+$/;

function isTaken(env: NodeJS.ProcessEnv, option: string): boolean {
  const at = (name: string) => env[`npm_config_${name.replaceAll('-', '_')}`];
  // npm sets an empty text for `--no-NAME`. It also does so for its own options that were not typed, such as `yes`.
  if (option.startsWith('no-')) return at(option.slice(3)) === '';
  const own = at(option);
  if (own !== undefined || option.length > 4) return Boolean(own);
  // npm reads `--mp` as `-m -p`, and `--days` as `-d -a -y -s`.
  const settings = KNOWN.test(option) ? [...option].flatMap((letter) => letters[letter] ?? []) : [];
  if (settings.length > 0) return settings.every(at);
  // npm completes the beginning of the name of one of its options: `--to` becomes `--token-description`.
  return option === 'to' && Boolean(at('token-description'));
}
