import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { Config } from './config.ts';
import type { Wired } from './wire.ts';

/** One command of staff. Exit status 0: done; 1: not, or not all; 2: not understood. */
export interface Command {
  /** The words that name it, then its arguments. */
  usage: string;
  summary: string;
  run(args: string[], wired: Wired): Promise<number>;
}

/** A command that must work where nothing else does: it gets the settings, with nothing connected and nothing migrated. */
export interface LoneCommand extends Omit<Command, 'run'> {
  runAlone(args: string[], config: Config): Promise<number>;
}

/** What came from outside, without what a terminal would obey: control characters and those that turn the direction of text. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');
}

export function misused({ usage }: Pick<Command, 'usage'>): number {
  console.error(`Usage: npm run operator -- ${usage}`);
  return 2;
}

/** The arguments, or null when one is not known or lacks its value: that has been said. */
export function readArgs<const Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, allowPositionals: true, allowNegative: true, options });
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) throw error;
    console.error((error as Error).message);
    return null;
  }
}
