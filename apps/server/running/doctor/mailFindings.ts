import type { Answer } from '../../providers/answer.ts';
import type { MailState } from './askMail.ts';
import type { Facts } from './examine.ts';
import { about, type Finding, list, reasonOf } from './finding.ts';

/** Reports whether the mail server can be used, and whether DNS lets receivers trust the sender. */
export function ofMail({ mail }: Facts): Finding[] {
  const server = about('Mail server');
  if (mail === null)
    return [
      server.ok(
        'MAIL=elsewhere: the society sends its letters by other means (docs/reference.md, "Letters by other means").',
      ),
    ];
  const { connection, domain } = mail;
  const found =
    'said' in connection
      ? server.ok(
          mail.isStandIn
            ? `A stand-in at ${mail.server} keeps the letters, and sends them to nobody. A real one needs SMTP_URL and MAIL_FROM.`
            : `${mail.server} takes our connection and login.`,
        )
      : server.missing(
          `${mail.server} does not let us send (${reasonOf(connection)}). Check SMTP_URL: smtps://user:password@host, or smtp:// where the server speaks STARTTLS.`,
        );
  return domain === null ? [found] : [found, ...ofSender(domain)];
}

function ofSender({ name, spf, dkim, dmarc }: NonNullable<MailState['domain']>): Finding[] {
  const [sender, key, policy] = [about('SPF'), about('DKIM'), about('DMARC')];
  const unanswered = (answer: Answer<unknown>) =>
    `${name} could not be looked up (${reasonOf(answer)}). Try again.`;
  const asked = list(dkim.selectors.map((selector) => `${selector}._domainkey`));
  return [
    !('said' in spf)
      ? sender.unknown(unanswered(spf))
      : spf.said.length === 1
        ? spf.said[0]!.split(/\s+/).some((word) => /^\+?all$/i.test(word))
          ? sender.missing(
              `${name} lets everybody send for it (${spf.said[0]}). End its record with -all or ~all.`,
            )
          : sender.ok(`${name} says who may send for it: ${spf.said[0]}. The mail server must be among them.`)
        : sender.missing(
            spf.said.length === 0
              ? `${name} does not say who may send for it. Publish a TXT record there that includes your mail server: "v=spf1 include:… ~all".`
              : `${name} has ${spf.said.length} SPF records, which counts as none. Make one of them.`,
          ),
    !('said' in dkim.found)
      ? key.unknown(unanswered(dkim.found))
      : dkim.found.said !== null
        ? key.ok(`${dkim.found.said}._domainkey.${name} has a key. The mail server must sign with it.`)
        : dkim.isSet
          ? key.missing(
              `${asked}.${name} has no key. Publish the one that your mail provider shows, or correct MAIL_DKIM_SELECTOR.`,
            )
          : key.unknown(
              `${name} has no key at the usual places (${asked}). Set MAIL_DKIM_SELECTOR to what your mail provider calls the selector.`,
            ),
    !('said' in dmarc)
      ? policy.unknown(unanswered(dmarc))
      : dmarc.said === null
        ? policy.missing(
            `_dmarc.${name} is not published. Begin with a TXT record "v=DMARC1; p=none; rua=mailto:…".`,
          )
        : policy.ok(`${name} has ${dmarc.said}.`),
  ];
}
