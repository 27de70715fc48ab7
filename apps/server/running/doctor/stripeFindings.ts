import { stripeApiVersion, type WalletDomain } from '../../providers/stripe/account.ts';
import { restrictedKeyPage } from '../../providers/stripe/permissions.ts';
import { webhookEvents } from '../../providers/stripe/webhookEvents.ts';
import type { Facts } from './examine.ts';
import { about, type Finding, isForbidden, isPublic, list } from './finding.ts';

const KEYS_PAGE = 'https://dashboard.stripe.com/apikeys';
const WEBHOOKS_PAGE = 'https://dashboard.stripe.com/webhooks';
const METHODS_PAGE = 'https://dashboard.stripe.com/settings/payment_methods';
const DOMAINS_PAGE = 'https://dashboard.stripe.com/settings/payment_method_domains';
const ACCOUNT_PAGE = 'https://dashboard.stripe.com/account/status';

export function ofStripe(facts: Facts): Finding[] {
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

/**
 * The maximum difference between the clock and Stripe's clock (ms). With a larger difference, webhooks and links may be refused
 * because of their timestamps. Stripe's own tolerance for webhooks is five minutes.
 */
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
        `This key may not list webhook endpoints (${endpoints.refused.message}). Give it Read for Webhook Endpoints, or compare ${WEBHOOKS_PAGE} with docs/reference.md, "Stripe".`,
      ),
    ];
  const found = endpoints.said.filter(({ url }) => webhookUrls.includes(url));
  if (found.length === 0)
    return [
      standIns.stripe
        ? webhook.ok('The local start tells the stand-in directly where to send. A real account needs one.')
        : isPublic(publicUrl)
          ? webhook.missing(
              `None is registered for ${webhookUrls[0]}. It needs API version ${stripeApiVersion} and its events.`,
              { do: 'set up' },
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
    : applePay.missing(`${host} ${trouble}. By hand: ${DOMAINS_PAGE}.`, { do: 'set up' });
}

/**
 * Reports whether the account offers Link. The card forms switch Link off in either case: with Link a joiner could pay from a
 * bank account, but an upgrade needs a card that can be charged again.
 */
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
