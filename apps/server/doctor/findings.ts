import type { Answer } from '../providers/answer.ts';
import { stripeApiVersion, type WalletDomain } from '../providers/stripe/account.ts';
import { restrictedKeyPage } from '../providers/stripe/permissions.ts';
import { webhookEvents } from '../providers/stripe/webhookEvents.ts';
import { CLAIMED_ADDRESS } from './arrival.ts';
import type { Facts } from './examine.ts';

/** What one check found: a sentence, and in it what to do when something is missing. */
export interface Finding {
  standing: 'ok' | 'missing' | 'could not be checked';
  about: string;
  text: string;
}

type Say = (text: string) => Finding;
const about = (subject: string): { ok: Say; missing: Say; unknown: Say } => ({
  ok: (text) => ({ standing: 'ok', about: subject, text }),
  missing: (text) => ({ standing: 'missing', about: subject, text }),
  unknown: (text) => ({ standing: 'could not be checked', about: subject, text }),
});

const KEYS_PAGE = 'https://dashboard.stripe.com/apikeys';
const WEBHOOKS_PAGE = 'https://dashboard.stripe.com/webhooks';
const METHODS_PAGE = 'https://dashboard.stripe.com/settings/payment_methods';
const DOMAINS_PAGE = 'https://dashboard.stripe.com/settings/payment_method_domains';
const ACCOUNT_PAGE = 'https://dashboard.stripe.com/account/status';
const HUBSPOT_KEY = 'HubSpot: Development, Keys, Service keys, the key';
const HUBSPOT_PROPERTIES = 'HubSpot: Settings, Properties, Contact properties';

/** The scopes that the join needs of its HubSpot token; the last one where documents are attached. */
const SCOPES = ['crm.objects.contacts.read', 'crm.objects.contacts.write', 'files'];

/** What the facts mean, in the order in which one would put things right. Pure. */
export function findingsOf(facts: Facts): Finding[] {
  return [...ofSettings(facts), ...ofStripe(facts), ...ofHubspot(facts)];
}

function ofSettings(facts: Facts): Finding[] {
  const { keys, publicUrl, societyFile, societyFaults } = facts;
  const address = about('Public address');
  const mode = about('Mode');
  const link = about('Link secret');
  const society = about('Society file');
  return [
    keys.live && !publicUrl.startsWith('https:')
      ? address.missing(`PUBLIC_URL is ${publicUrl}. With live keys it must begin with https://.`)
      : address.ok(publicUrl),
    keys.live && facts.mode !== 'live'
      ? mode.missing('The Stripe keys are live. Set MODE=live, which refuses what must not be live.')
      : mode.ok(
          `MODE=${facts.mode}, ${facts.standIns.stripe ? 'no real Stripe keys' : `${keys.live ? 'live' : 'test'} keys`}.`,
        ),
    facts.hasLinkSecret
      ? link.ok('LINK_SECRET is set.')
      : keys.live
        ? link.missing('Set LINK_SECRET to at least 32 random characters: openssl rand -base64 32')
        : link.ok('LINK_SECRET is not set; one is kept in the database. MODE=live wants it set.'),
    societyFaults.length === 0
      ? society.ok(`${societyFile} has no mistakes.`)
      : society.missing(
          `${societyFaults[0]}${societyFaults.length > 1 ? ` And ${societyFaults.length - 1} more.` : ''}`,
        ),
    ofDatabase(facts.database),
    ofStorage(facts.storage),
    ofArrival(facts),
  ];
}

/** By what address callers are counted. */
function ofArrival({ arrival, publicUrl, trustProxy }: Facts): Finding {
  const callers = about("Callers' addresses");
  if ('down' in arrival)
    return callers.unknown(
      `${publicUrl} does not answer (${arrival.down}). Run this again while the server runs.`,
    );
  if ('refused' in arrival)
    return callers.unknown(
      `What answers at ${publicUrl} does not know this installation (${arrival.refused.message}). Is it this server, with the same LINK_SECRET or database?`,
    );
  const { address, peer, forwarded } = arrival.said;
  const named = trustProxy === false ? 'none' : trustProxy.join(',');
  if (address === CLAIMED_ADDRESS)
    return callers.missing(
      `A caller is believed to have the address that they claim in X-Forwarded-For, so that limits hold nobody. The proxy must add the caller's address to that header or replace it; TRUST_PROXY (${named}) must name proxies alone.`,
    );
  const isPassedOn = forwarded !== CLAIMED_ADDRESS;
  if (isPassedOn && forwarded !== null && address === peer)
    return callers.missing(
      `Calls come through a proxy at ${peer}, which TRUST_PROXY (${named}) does not name: all callers count as one, and a stranger's wrong codes keep everybody waiting. Add its address to TRUST_PROXY.`,
    );
  if (address === peer && publicUrl.startsWith('https:'))
    return callers.missing(
      `The proxy at ${peer}, which ends TLS, does not say who calls: all callers count as one. Let it set X-Forwarded-For, and name it in TRUST_PROXY.`,
    );
  return callers.ok(
    address === peer
      ? `A call to ${publicUrl} arrives from ${address}, without a proxy.`
      : `A call to ${publicUrl} arrives from ${address}, by the proxy at ${peer}. It must be the address that this machine calls from, and not another proxy's.`,
  );
}

function ofDatabase(answer: Facts['database']): Finding {
  const database = about('Database');
  if (!('said' in answer))
    return database.missing(`It does not answer (${reasonOf(answer)}). Check DATABASE_URL.`);
  const { waiting, newer, mayMigrate, foreign } = answer.said;
  if (foreign) return database.missing(`${foreign} Run the program that goes with it.`);
  if (waiting === 0)
    return database.ok(
      newer ? `Reachable. A newer version has migrated it, to ${newer}.` : 'Reachable and migrated.',
    );
  const files = waiting === 1 ? '1 migration waits' : `${waiting} migrations wait`;
  return mayMigrate
    ? database.ok(`Reachable. ${files}; the next start of the server runs ${waiting === 1 ? 'it' : 'them'}.`)
    : database.missing(
        `${files}, and the user of DATABASE_URL may not make tables. Grant it CREATE on the schema.`,
      );
}

function ofStorage({ place, answer }: Facts['storage']): Finding {
  const storage = about('Documents');
  return 'said' in answer
    ? storage.ok(`A file was written to ${place}, read and removed.`)
    : storage.missing(
        `They cannot be kept in ${place} (${reasonOf(answer)}). Check STORAGE_URL; docs/operations.md has the permissions of a bucket.`,
      );
}

function ofStripe(facts: Facts): Finding[] {
  const { account } = facts.stripe;
  const key = about('Stripe key');
  const rest = about('The rest of Stripe').unknown('Run this again once the line above is put right.');
  const mode = facts.keys.live ? 'live' : 'test';
  if ('down' in account) return [key.missing(`Stripe does not answer (${account.down}). Try again.`), rest];
  if ('refused' in account && account.refused.status === 401)
    return [
      key.missing(
        `Stripe refuses STRIPE_SECRET_KEY (${account.refused.message}). Copy it again from ${KEYS_PAGE}.`,
      ),
      rest,
    ];
  return [
    'said' in account
      ? account.said.mayCharge
        ? key.ok(`${account.said.id} may charge, in ${mode} mode.`)
        : key.missing(
            `${account.said.id} may not charge yet. Give Stripe what it still asks for: ${ACCOUNT_PAGE}.`,
          )
      : key.unknown(
          `Whether the account may charge: this key may not read it (${account.refused.message}). See ${ACCOUNT_PAGE}.`,
        ),
    ofPublishableKey(facts),
    ...ofPermissions(facts),
    ofClock(facts),
    ...ofWebhooks(facts),
    ofApplePay(facts),
    ofLink(facts),
  ];
}

function ofPublishableKey({ keys, stripe: { publishable } }: Facts): Finding {
  const key = about('Publishable key');
  if (keys.live !== keys.publishableLive)
    return key.missing(
      `One Stripe key is live and the other a test key. Take both from the same page: ${KEYS_PAGE}.`,
    );
  if ('down' in publishable) return key.unknown(`Stripe does not answer (${publishable.down}). Try again.`);
  if ('refused' in publishable)
    return key.missing(
      `Stripe refuses STRIPE_PUBLISHABLE_KEY (${publishable.refused.message}). Copy it again from ${KEYS_PAGE}.`,
    );
  switch (publishable.said) {
    case 'same':
      return key.ok('It opens the newest payment of the account.');
    case 'other':
      return key.missing(
        `It belongs to another account than STRIPE_SECRET_KEY. Take both from the same page: ${KEYS_PAGE}.`,
      );
    case 'unproven':
      return key.unknown(
        'Stripe knows it. That it belongs to the same account shows with the first payment: open a checkout, then run this again.',
      );
  }
}

function ofPermissions({ keys, stripe: { reads, writes } }: Facts): Finding[] {
  const key = about('Key permissions');
  const asked = [
    { verb: 'read', answers: reads },
    { verb: 'write', answers: writes },
  ].map(({ verb, answers }) => ({
    verb,
    forbidden: Object.keys(answers).filter((name) => isForbidden(answers[name]!)),
    unanswered: Object.keys(answers).filter((name) => 'down' in answers[name]!),
  }));
  const page = restrictedKeyPage({ live: keys.live });
  const findings: Finding[] = [];
  for (const { verb, forbidden, unanswered } of asked) {
    if (forbidden.length > 0)
      findings.push(
        key.missing(
          `The key may not ${verb} ${list(forbidden)}. Edit the restricted key at ${KEYS_PAGE}, or make one with all that is needed: ${page}`,
        ),
      );
    if (unanswered.length > 0)
      findings.push(key.unknown(`Stripe did not answer about ${list(unanswered)}. Try again.`));
  }
  if (findings.length === 0)
    findings.push(key.ok(`It reads ${list(Object.keys(reads))}, and writes ${list(Object.keys(writes))}.`));
  return findings;
}

/** Further off than this (ms) the times of webhooks and links are taken for wrong. Stripe's own limit is five minutes. */
const CLOCK_MS = 60_000;

function ofClock({ stripe: { clockAheadMs } }: Facts): Finding {
  const clock = about('Clock');
  if (!('said' in clockAheadMs)) return clock.unknown(`Stripe did not tell the time. Try again.`);
  const seconds = Math.round(Math.abs(clockAheadMs.said) / 1_000);
  const side = clockAheadMs.said > 0 ? 'ahead of' : 'behind';
  return seconds * 1_000 > CLOCK_MS
    ? clock.missing(
        `This machine is ${seconds} seconds ${side} Stripe's. Set its clock by NTP: with more than five minutes every webhook is refused.`,
      )
    : clock.ok(`Within ${Math.max(seconds, 1)} s of Stripe's.`);
}

function ofWebhooks({ standIns, publicUrl, webhookUrls, stripe: { endpoints } }: Facts): Finding[] {
  const webhook = about('Webhook endpoint');
  if ('down' in endpoints) return [webhook.unknown(`Stripe does not answer (${endpoints.down}). Try again.`)];
  if ('refused' in endpoints)
    return [
      webhook.unknown(
        `This key may not list webhook endpoints (${endpoints.refused.message}). Give it Read for Webhook Endpoints, or compare ${WEBHOOKS_PAGE} with docs/integrations.md.`,
      ),
    ];
  const found = endpoints.said.filter(({ url }) => webhookUrls.includes(url));
  if (found.length === 0)
    return [
      standIns.stripe
        ? webhook.ok('The local start tells the stand-in directly where to send. A real account needs one.')
        : isPublic(publicUrl)
          ? webhook.missing(
              `None is registered for ${webhookUrls[0]}. npm run operator -- setup makes it, with API version ${stripeApiVersion} and its events.`,
            )
          : webhook.unknown(
              `Stripe cannot reach ${publicUrl}. Forward to it: stripe listen --forward-to ${webhookUrls[0]}; STRIPE_WEBHOOK_SECRET is what that prints.`,
            ),
    ];
  const findings: Finding[] = [];
  for (const { id, url, enabled, events, apiVersion } of found) {
    const lacking = events.includes('*') ? [] : webhookEvents.filter((event) => !events.includes(event));
    const before = findings.length;
    if (!enabled)
      findings.push(webhook.missing(`${id} (${url}) is disabled. Enable it at ${WEBHOOKS_PAGE}.`));
    if (lacking.length > 0)
      findings.push(webhook.missing(`${id} is not sent ${list(lacking)}. Add them at ${WEBHOOKS_PAGE}.`));
    if (apiVersion !== stripeApiVersion)
      findings.push(
        webhook.missing(
          `${id} speaks ${apiVersion ? `API version ${apiVersion}` : "the account's default API version"}, which cannot be changed. Make a new one with ${stripeApiVersion}, set its secret, then delete this one: ${WEBHOOKS_PAGE}.`,
        ),
      );
    if (findings.length === before)
      findings.push(webhook.ok(`${id} (${url}) is enabled, with every event, in ${apiVersion}.`));
  }
  if (!standIns.stripe)
    findings.push(
      about('Webhook secret').unknown(
        `Stripe does not tell it to a key. Compare STRIPE_WEBHOOK_SECRET with the endpoint's signing secret at ${WEBHOOKS_PAGE}.`,
      ),
    );
  return findings;
}

function ofApplePay({ standIns, publicUrl, stripe: { domain } }: Facts): Finding {
  const applePay = about('Apple Pay');
  const host = new URL(publicUrl).hostname;
  if (standIns.stripe)
    return applePay.ok('The card form of the stand-in has none. A real account needs the domain registered.');
  if (!isPublic(publicUrl))
    return applePay.unknown(`${host} cannot be registered. It needs a public https address.`);
  if ('down' in domain) return applePay.unknown(`Stripe does not answer (${domain.down}). Try again.`);
  if ('refused' in domain)
    return applePay.unknown(
      `This key may not list payment method domains (${domain.refused.message}). See ${DOMAINS_PAGE}.`,
    );
  const trouble = domain.said ? troubleOf(domain.said) : 'is not registered';
  return trouble === null
    ? applePay.ok(`${host} is registered and active.`)
    : applePay.missing(`${host} ${trouble}. npm run operator -- setup, or by hand: ${DOMAINS_PAGE}.`);
}

/** Both card forms switch Link off, whatever the account says (docs/integrations.md). */
function ofLink({ stripe: { offersLink } }: Facts): Finding {
  const link = about('Link');
  if ('down' in offersLink) return link.unknown(`Stripe does not answer (${offersLink.down}). Try again.`);
  if ('refused' in offersLink)
    return link.unknown(
      `This key may not read payment method configurations (${offersLink.refused.message}). The card forms switch Link off all the same. See ${METHODS_PAGE}.`,
    );
  switch (offersLink.said) {
    case false:
      return link.ok('It is off in the account.');
    case true:
      return link.ok(
        `It is on in the account, and the card forms switch it off. Switch it off there too, unless other pages use it: ${METHODS_PAGE}.`,
      );
    case null:
      return link.unknown(`The account has no payment method configuration of its own. See ${METHODS_PAGE}.`);
  }
}

function troubleOf({ enabled, applePay, reason }: WalletDomain): string | null {
  if (!enabled) return 'is registered but switched off';
  return applePay
    ? null
    : `is registered but not active for Apple Pay${reason ? ` (${reason.replace(/\.$/, '')})` : ''}`;
}

function ofHubspot({
  hubspotVersion,
  attachDocuments,
  neededProperties,
  laterProperties,
  hubspot: { properties, contacts, scopes, tried },
  ruleRefusals,
}: Facts): Finding[] {
  const token = about('HubSpot token');
  const permissions = about('HubSpot scopes');
  const fields = about('HubSpot properties');
  const rest = about('The rest of HubSpot').unknown('Run this again once the line above is put right.');
  const down = [properties, contacts].find((answer) => 'down' in answer);
  if (down) return [token.missing(`HubSpot does not answer (${reasonOf(down)}). Try again.`), rest];
  const unauthorized = [properties, contacts].find(
    (answer) => 'refused' in answer && answer.refused.status === 401,
  );
  if (unauthorized)
    return [
      token.missing(
        `HubSpot refuses HUBSPOT_ACCESS_TOKEN (${reasonOf(unauthorized)}). Copy it again: ${HUBSPOT_KEY}, Show.`,
      ),
      rest,
    ];

  const needed = attachDocuments ? SCOPES : SCOPES.filter((scope) => scope !== 'files');
  const granted = 'said' in scopes ? scopes.said : null;
  const tries: Record<string, Answer<unknown> | undefined> = {
    'crm.objects.contacts.read': contacts,
    'crm.objects.contacts.write': tried?.write,
    files: tried?.files,
  };
  const lacking = needed.filter((scope) =>
    granted ? !granted.has(scope) : tries[scope] !== undefined && isForbidden(tries[scope]),
  );
  const untold = needed.filter((scope) => !granted && !(tries[scope] && 'said' in tries[scope]));
  const findings = [
    token.ok('HubSpot takes it.'),
    lacking.length > 0
      ? permissions.missing(`The key lacks ${list(lacking)}. Add them: ${HUBSPOT_KEY}, Scopes.`)
      : granted
        ? permissions.ok(`${list(needed)} are granted.`)
        : untold.length === 0
          ? permissions.ok(`Calls that want ${list(needed)} are answered.`)
          : permissions.unknown(
              `Whether ${list(untold)} ${untold.length === 1 ? 'is' : 'are'} granted shows here: ${HUBSPOT_KEY}, Scopes.`,
            ),
    ofRules(ruleRefusals),
  ];
  if (!('said' in properties))
    return [
      ...findings,
      fields.unknown(
        `The token may not list them (${reasonOf(properties)}). Grant crm.schemas.contacts.read: ${HUBSPOT_KEY}, Scopes.`,
      ),
    ];
  const { said: known } = properties;
  if (!known)
    return [
      ...findings,
      fields.missing(`HubSpot does not know API version ${hubspotVersion}. Correct HUBSPOT_API_VERSION.`),
    ];
  const absent = neededProperties.filter((name) => !known.has(name));
  return [
    ...findings,
    absent.length === 0
      ? fields.ok(`All ${neededProperties.length} that a join reads or writes exist.`)
      : fields.missing(
          `The account has no ${list(absent)}. Create ${absent.length === 1 ? 'it' : 'them'}: ${HUBSPOT_PROPERTIES}; docs/integrations.md has the types. ${lackingMeans(absent, laterProperties)}`,
        ),
  ];
}

/** Rules that administrators set: HubSpot does not list them, and refuses by them since version 2026-09. */
function ofRules(refusals: Facts['ruleRefusals']): Finding {
  const rules = about('HubSpot rules');
  if (!('said' in refusals))
    return rules.unknown(`Whether joins were refused by them is not known (${reasonOf(refusals)}).`);
  const { said } = refusals;
  if (said.length === 0)
    return rules.ok(
      'No join is refused by one. They are not listed: look at Settings, Objects, Contacts, Create Record for what every new contact must have.',
    );
  return rules.missing(
    `${said[0]!.reason} It holds up ${said[0]!.joins === 1 ? 'a join' : `${said[0]!.joins} joins`}; afterwards: npm run operator -- contacts retry all${said.length > 1 ? `. And ${said.length - 1} more: npm run operator -- contacts failed` : ''}`,
  );
}

/** What becomes of joins until the properties are made. */
function lackingMeans(absent: readonly string[], later: readonly string[]): string {
  return absent.every((name) => later.includes(name))
    ? `Until then joins are told without ${absent.length === 1 ? 'it' : 'them'}.`
    : 'Until then HubSpot refuses joins that write there; afterwards: npm run operator -- contacts retry all';
}

function isForbidden(answer: Answer<unknown>): boolean {
  return 'refused' in answer && (answer.refused.status === 401 || answer.refused.status === 403);
}

function reasonOf(answer: Answer<unknown>): string {
  return 'down' in answer ? answer.down : 'refused' in answer ? answer.refused.message : '';
}

function list(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Whether strangers can reach an address: its name has a dot, and is neither an IP address nor a local name. */
export function isPublic(address: string): boolean {
  const host = new URL(address).hostname;
  return (
    /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+$/i.test(host) &&
    !/\.(local|localhost|internal|test)$/.test(host)
  );
}
