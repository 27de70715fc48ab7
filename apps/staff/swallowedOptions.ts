/** A command's options, or those of another program: their names. */
interface WithOptions {
  flags?: readonly string[];
  texts?: Readonly<Record<string, string>>;
}

/**
 * Returns the options of these commands that npm took for itself: `npm run operator refund JOIN --dry-run`, without `--` before the
 * options, hands over `refund JOIN` alone, and sets `npm_config_dry_run`. The command would do something else than was asked.
 */
export function swallowedOptions(commands: readonly WithOptions[], env: NodeJS.ProcessEnv): string[] {
  const options = commands.flatMap(({ flags = [], texts = {} }) => [...flags, ...Object.keys(texts)]);
  return [...new Set(options)].filter((name) => isTaken(env, name)).map((name) => `--${name}`);
}

/** npm's settings that a single letter turns on: `-p` is `--parseable`. Other letters of npm's are not needed here. */
const letters: Partial<Record<string, string>> = { a: 'all', l: 'long', p: 'parseable', y: 'yes' };
/** All letters that npm knows. */
const KNOWN = /^[acdfghilmnpqsvwy]+$/;

function isTaken(env: NodeJS.ProcessEnv, option: string): boolean {
  const at = (name: string) => env[`npm_config_${name.replaceAll('-', '_')}`];
  // npm sets an empty text for `--no-NAME`. It sets the same for options of its own that nobody gave, such as `yes`.
  if (option.startsWith('no-')) return at(option.slice(3)) === '';
  const own = at(option);
  if (own !== undefined || option.length > 4) return Boolean(own);
  // npm reads `--mp` as `-m -p`, and `--days` as `-d -a -y -s`.
  const settings = KNOWN.test(option) ? [...option].flatMap((letter) => letters[letter] ?? []) : [];
  if (settings.length > 0) return settings.every(at);
  // npm completes the beginning of one of its own names: `--to` becomes `--token-description`.
  return option === 'to' && Boolean(at('token-description'));
}
