import type { Deps as SessionDeps } from '../session/deps.ts';
import type { LetterTexts } from './readTexts.ts';
import type { StopLinks } from './stopLinks.ts';

/** What `letters` depends on. Its question: what do letters to members, and notices to staff, contain? */
export interface Deps extends SessionDeps {
  letterTexts: LetterTexts;
  stopLinks: StopLinks;
  /** The society's icon, a PNG. */
  icon: Buffer;
}
