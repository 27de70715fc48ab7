import type { Deps as DocumentDeps } from '../documents/deps.ts';
import type { Deps as MembershipDeps } from '../membership/deps.ts';

export interface Deps extends DocumentDeps, MembershipDeps {}
