import type { Deps as PayingDeps } from '../paying/deps.ts';
import type { Storage } from '../providers/storage/storage.ts';
import type { Inspector } from './inspector.ts';
import type { Scanner } from './scanner.ts';

/** What `documents` depends on. Its question: which documents has a member sent, and how do staff decide about them? */
export interface Deps extends PayingDeps {
  storage: Storage;
  /** Inspects uploaded documents in a child process. */
  inspector: Inspector;
  /** Scans documents for malware; null if none is configured. */
  scanner: Scanner | null;
}
