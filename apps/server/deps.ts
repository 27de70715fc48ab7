import type { FastifyBaseLogger } from 'fastify';
import type { Printer } from './certificate/printer.ts';
import type { Contacts } from './contacts/contacts.ts';
import type { Inspector } from './documents/inspector.ts';
import type { Scanner } from './documents/scanner.ts';
import type { LetterTexts } from './letters/readTexts.ts';
import type { StopLinks } from './letters/stopLinks.ts';
import type { Links } from './links/links.ts';
import type { Passes } from './pass/passes.ts';
import type { Config } from './platform/config/config.ts';
import type { Database } from './platform/database/client.ts';
import type { BrowserCookie } from './platform/http/browserCookie.ts';
import type { Budget } from './providers/hubspot/budget.ts';
import type { Storage } from './providers/storage/storage.ts';
import type { PaymentProvider } from './providers/stripe/provider.ts';
import type { Society } from './society/society.ts';

/** Everything that a use case may need. Connected once in wire.ts, and in tests. */
export interface Deps {
  database: Database;
  payments: PaymentProvider;
  contacts: Contacts;
  /** How many calls HubSpot still allows, for all processes together. */
  crmBudget: Budget;
  storage: Storage;
  /** Inspects documents outside this process. */
  inspector: Inspector;
  /** Makes certificates and press releases, on a thread. */
  printer: Printer;
  /** Null if documents are not scanned. */
  scanner: Scanner | null;
  links: Links;
  passes: Passes;
  stopLinks: StopLinks;
  browser: BrowserCookie;
  society: Society;
  letterTexts: LetterTexts;
  now(): Date;
  config: Config;
  /**
   * Distinguishes our payments from those of other installations on the same Stripe account. Stored in the database, so that it
   * outlives changes of addresses and keys.
   */
  environment: string;
  /** Returns a keyed hash of the {@link countedAddress}, so that callers can be counted without storing addresses. */
  hashAddress(address: string): string;
  /** Whether a token proves that the caller is the operator command `doctor`, which knows this installation's secret. */
  isDoctor(token: string): boolean;
  log: Log;
}

/** Structured logging. Never log personal data, client secrets or whole session uuids. */
export type Log = FastifyBaseLogger;
