import type { FastifyBaseLogger } from 'fastify';
import type { Contacts } from './crm/contacts.ts';
import type { Budget } from './crm/hubspot/budget.ts';
import type { HubspotClient } from './crm/hubspot/client.ts';
import type { Inspector } from './documents/inspector.ts';
import type { Scanner } from './documents/scanner.ts';
import type { Links } from './joining/links/links.ts';
import type { Passes } from './joining/pass/passes.ts';
import type { LetterTexts } from './letters/readTexts.ts';
import type { StopLinks } from './letters/stopLinks.ts';
import type { Printer } from './membership/printer.ts';
import type { Config } from './platform/config/config.ts';
import type { Database } from './platform/database/client.ts';
import type { Actor } from './platform/database/transaction.ts';
import type { BrowserCookie } from './platform/http/browserCookie.ts';
import type { Storage } from './providers/storage/storage.ts';
import type { PaymentProvider } from './providers/stripe/provider.ts';
import type { Society } from './society/society.ts';

/** The dependencies of all use cases. Built in wire.ts, and by tests. */
export interface Deps {
  database: Database;
  /** For whom the use cases work. It travels with the work: whoever acts for staff gives their name (`{ ...deps, actor }`). */
  actor: Actor;
  payments: PaymentProvider;
  contacts: Contacts;
  /** HubSpot itself, for work at which no joiner waits. */
  hubspot: HubspotClient;
  /** The number of calls that HubSpot still allows, shared by all processes. */
  crmBudget: Budget;
  storage: Storage;
  /** Inspects uploaded documents in a child process. */
  inspector: Inspector;
  /** Makes certificates and press releases in a worker thread. */
  printer: Printer;
  /** Scans documents for malware; null if none is configured. */
  scanner: Scanner | null;
  links: Links;
  passes: Passes;
  stopLinks: StopLinks;
  browser: BrowserCookie;
  society: Society;
  letterTexts: LetterTexts;
  /** The society's icon, a PNG. */
  icon: Buffer;
  now(): Date;
  config: Config;
  /**
   * A random name of this installation. It distinguishes our payments from those of other installations on the same Stripe
   * account. It is stored in the database, so that it stays the same when addresses and keys change.
   */
  environment: string;
  /** Returns a keyed hash of the {@link countedAddress}, so that callers can be counted without storing their addresses. */
  hashAddress(address: string): string;
  /** Whether a token proves that the caller is the operator command `doctor` of this installation. */
  isDoctor(token: string): boolean;
  log: Log;
}

/** The dependencies of a use case that only a member of staff may call. */
export interface StaffDeps extends Deps {
  actor: string;
}

/** Structured logging. Must not be given personal data, client secrets or complete session uuids. */
export type Log = FastifyBaseLogger;
