import { BlockList, isIPv6 } from 'node:net';
import { CLAIMED_ADDRESS } from './arrival.ts';
import { absentSentences } from './askAbsent.ts';
import type { Facts } from './examine.ts';
import { about, type Finding, reasonOf } from './finding.ts';
import { ofHubspot } from './hubspotFindings.ts';
import { ofMail } from './mailFindings.ts';
import { ofStripe } from './stripeFindings.ts';

/** Derives the findings from the facts, in the order in which staff should repair things. */
export function findingsOf(facts: Facts): Finding[] {
  return [...ofSettings(facts), ...ofStripe(facts), ...ofHubspot(facts), ...ofMail(facts)];
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
    ...ofAbsent(facts),
    ofDatabase(facts.database),
    ...ofDatabaseLink(facts),
    ofStorage(facts.storage),
    ...ofVersions(facts.storage),
    ofEncryption(facts),
    ofArrival(facts),
    ofDesk(facts),
  ];
}

/** Reports whether the server determines callers' addresses correctly; rate limits depend on that. */
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

function ofDesk({ desk }: Facts): Finding {
  const finding = about('Desk');
  if (desk === null) return finding.ok('There is none: DESK_URL is not set. Staff have their commands.');
  const { url, answer } = desk;
  if ('said' in answer) return finding.ok(url);
  if ('down' in answer)
    return finding.unknown(`${url} does not answer (${answer.down}). Run this again while the server runs.`);
  return finding.missing(
    `What answers at ${url} is not the desk (${answer.refused.message}). The proxy must pass that name on to the servers' DESK_PORT.`,
  );
}

/**
 * Reports products and programmes that the society file no longer has, although orders, joins or codes refer to them. Returns no
 * finding if the database did not answer, since another check reports that.
 */
function ofAbsent({ absent, societyFile }: Facts): Finding[] {
  if (absent === null || !('said' in absent)) return [];
  const sold = about('What was sold');
  const sentences = absentSentences(absent.said);
  return [
    sentences.length === 0
      ? sold.ok(`${societyFile} has every programme and product of the joins, orders and invite codes.`)
      : sold.missing(
          `${sentences.join(' ')} Put ${sentences.length === 1 ? 'it' : 'them'} back into ${societyFile}, with \`retired: true\` where nobody is to join it or buy it any more: goods, prices and fees are kept with each order, the words of pages, letters and certificates are not.${absent.said.programmes.length > 0 ? ' Members of a programme that is not there get no certificate, and its codes are refused.' : ''}`,
        ),
  ];
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
    ? database.ok(
        `Reachable, and not at this version yet: ${files}. The start of a server runs ${waiting === 1 ? 'it' : 'them'}.`,
        { do: 'migrate' },
      )
    : database.missing(
        `${files}, and the user of DATABASE_URL may not make tables. Grant it CREATE on the schema.`,
      );
}

/** The addresses of this machine and of private networks, which no packet from the Internet reaches (RFC 6890). */
const near = new BlockList();
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
] as const)
  near.addSubnet(network, bits);
for (const [network, bits] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  near.addSubnet(network, bits, 'ipv6');

function isNear(address: string): boolean {
  // A link-local address may end with the name of its network interface.
  return near.check(address.replace(/%.*$/, ''), isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Reports whether others could read the traffic between server and database, or pretend to be the database. */
function ofDatabaseLink({ database, keys, mode }: Facts): Finding[] {
  if (!('said' in database)) return [];
  const finding = about('Database connection');
  const { address, tls } = database.said.link;
  if (tls === 'verified')
    return [finding.ok('It is encrypted by TLS, and the certificate of the database is verified.')];
  const what =
    tls === 'none' ? 'It is not encrypted' : 'It is encrypted, and the certificate is not verified';
  if (address === null) return [finding.ok('It is a socket of this machine.')];
  if (isNear(address))
    return [finding.ok(`${what}. It leads to ${address}, on this machine or in a private network of yours.`)];
  const danger = tls === 'none' ? 'can read all of it' : 'can pretend to be the database';
  const text = `${what}: whoever is on the way to ${address} ${danger}. Add sslmode=verify-full&sslrootcert=FILE to DATABASE_URL (docs/reference.md, "TLS to the database").`;
  return [keys.live || mode === 'live' ? finding.missing(text) : finding.ok(text)];
}

function ofStorage({ place, answer, mayRefuseChecksums, isOnlyLarge }: Facts['storage']): Finding {
  const storage = about('Documents');
  if ('said' in answer)
    return answer.said.unreadable !== null
      ? storage.missing(answer.said.unreadable)
      : storage.ok(
          `${answer.said.versions === null ? 'A file was' : 'A small and a large file were'} written to ${place}, read and removed.`,
        );
  const reason = reasonOf(answer);
  const repair = mayRefuseChecksums
    ? ' If the service does not take checksums, add checksums=required to STORAGE_URL.'
    : '';
  return storage.missing(
    isOnlyLarge
      ? `Files up to 5 MiB can be kept in ${place}, larger ones, which are uploaded in parts, cannot (${reason}).${repair}`
      : `They cannot be kept in ${place} (${reason}). Check STORAGE_URL; docs/reference.md, "A bucket for documents", has the permissions of a bucket.${repair}`,
  );
}

function ofVersions({ answer }: Facts['storage']): Finding[] {
  const versions = 'said' in answer ? answer.said.versions : null;
  if (versions === null) return [];
  const finding = about('Versions of documents');
  const rule =
    'a lifecycle rule with NoncurrentVersionExpiration, as of 30 days, ends what is left of erased documents';
  if (!('said' in versions))
    return [
      finding.unknown(`The bucket does not tell (${reasonOf(versions)}). If it has versioning, ${rule}.`),
    ];
  if (versions.said === 'stay')
    return [
      finding.missing(`The bucket keeps what is erased as noncurrent versions. Set it there: ${rule}.`),
    ];
  return [
    finding.ok(
      versions.said === 'none' ? 'The bucket keeps none.' : 'A lifecycle rule of the bucket ends them.',
    ),
  ];
}

function ofEncryption({ hasDocumentKey, keys, mode }: Facts): Finding {
  const encryption = about('Document key');
  if (hasDocumentKey)
    return encryption.ok('DOCUMENT_KEY is set: documents are encrypted, also before they are whole.');
  const finding = keys.live || mode === 'live' ? encryption.missing : encryption.ok;
  return finding('Documents are not encrypted. Set DOCUMENT_KEY.', { do: 'set document key' });
}
