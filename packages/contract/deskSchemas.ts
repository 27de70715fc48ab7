import type { z } from 'zod';
import type { DeskCallName } from './deskCalls.ts';
import { invitationSchemas } from './deskInvitations.ts';
import { letterSchemas } from './deskLetters.ts';
import { numbersSchemas } from './deskNumbers.ts';
import { parcelSchemas } from './deskParcels.ts';
import { peopleSchemas } from './deskPeople.ts';
import { personSchemas } from './deskPerson.ts';
import { refundSchemas } from './deskRefunds.ts';
import type { done, shown } from './deskShapes.ts';
import { signInSchemas } from './deskSignIn.ts';
import { staffSchemas } from './deskStaff.ts';
import { todaySchemas } from './deskToday.ts';
import { transcriptSchemas } from './deskTranscripts.ts';

/**
 * The shapes of the desk's calls, which are in one file for each page. Successes and failures are wrapped like those of the
 * joiners' calls (schemas.ts).
 */
export const deskSchemas = {
  ...signInSchemas,
  ...todaySchemas,
  ...peopleSchemas,
  ...parcelSchemas,
  ...invitationSchemas,
  ...staffSchemas,
  ...numbersSchemas,
  ...transcriptSchemas,
  ...personSchemas,
  ...refundSchemas,
  ...letterSchemas,
} as const satisfies Record<
  DeskCallName,
  { params?: z.ZodType; query?: z.ZodType; body?: z.ZodType; data: z.ZodType }
>;

export type Shown = z.output<typeof shown>;
/** The calls that show what they would do before they do it. */
export type DeskActionName = {
  [Name in DeskCallName]: Shown extends DeskData<Name> ? Name : never;
}[DeskCallName];
/** The answer of an action that was done. */
export type DeskDone<Name extends DeskActionName> = Exclude<DeskData<Name>, Shown> & z.output<typeof done>;

type Schemas = typeof deskSchemas;
export type DeskData<Name extends DeskCallName> = z.output<Schemas[Name]['data']>;
export type DeskBody<Name extends DeskCallName> = Schemas[Name] extends { body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;
export type DeskParams<Name extends DeskCallName> = Schemas[Name] extends {
  params: infer P extends z.ZodType;
}
  ? z.output<P>
  : Record<string, never>;
export type DeskQuery<Name extends DeskCallName> = Schemas[Name] extends { query: infer Q extends z.ZodType }
  ? z.output<Q>
  : undefined;
