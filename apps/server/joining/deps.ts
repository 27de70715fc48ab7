import type { Deps as DocumentDeps } from '../documents/deps.ts';
import type { Deps as MembershipDeps } from '../membership/deps.ts';

/**
 * What `joining` depends on. Its question: how does somebody with a code, a link or a self-nomination become a member? The calls
 * of the joiner's screens, from the code to the welcome page.
 */
export interface Deps extends DocumentDeps, MembershipDeps {}
