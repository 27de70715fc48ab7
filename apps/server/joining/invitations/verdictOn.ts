import { type CodeVerdict, verdictOnKnown, verdictOnUnknown } from '#core/codeVerdict.ts';
import type { Society } from '../../society/society.ts';
import { dayOf } from '../../society/texts.ts';
import { programmeFault } from './importInvitations.ts';
import type { KnownCode, UnknownCode } from './invitations.ts';

/** Returns the verdict on a code that `explainCode` has looked up: whom it leads to, or why it fails. */
export function verdictOn(
  { society }: { society: Society },
  code: string,
  found: KnownCode | UnknownCode,
): CodeVerdict {
  if (!('code' in found)) return verdictOnUnknown(code, found);
  const fault = found.programme === null ? null : programmeFault(found.programme, society.programmes);
  return verdictOnKnown({ ...found, programmeFault: fault }, (time) => dayOf(society, time));
}
