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

/** Everything a use case may need, wired once in main.ts and in tests. */
export interface Deps {
  database: Database;
  payments: PaymentProvider;
  contacts: Contacts;
  /** What the CRM still lets us ask, for all processes together. */
  crmBudget: Budget;
  storage: Storage;
  /** Looks into documents, on threads. */
  inspector: Inspector;
  /** Makes certificates and press releases, on a thread. */
  printer: Printer;
  /** Null: documents are not scanned. */
  scanner: Scanner | null;
  links: Links;
  passes: Passes;
  stopLinks: StopLinks;
  browser: BrowserCookie;
  society: Society;
  letterTexts: LetterTexts;
  now(): Date;
  config: Config;
  /** Tells our payments from those of others on one Stripe account: kept in the database, so it outlives addresses and keys. */
  environment: string;
  /** For counting by address without keeping addresses: what {@link countedAddress} counts by, keyed. */
  hashAddress(address: string): string;
  /** Whether a token shows that the doctor asks, who knows this installation's secret. */
  isDoctor(token: string): boolean;
  log: Log;
}

/** Structured logging. Never personal data, client secrets or whole session uuids. */
export type Log = FastifyBaseLogger;
