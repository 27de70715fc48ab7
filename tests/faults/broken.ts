import { registerHooks } from 'node:module';

/**
 * Ways to break the server on purpose. They prove that the fault suite notices each of these defects. A server process loads this
 * file first (`--import`). The environment variable `FAULTS_BROKEN` names one of the variants. Its changes are made to the text
 * of one of the server's files when that file is loaded.
 */
export const variants = {
  /** Removes the locks of the join, its person and all who are likely the same. */
  'no lock': {
    file: 'paying/confirmPayment.ts',
    changes: [
      [' for update of session`', '`'],
      [' for update of person`', '`'],
      ["pg_advisory_xact_lock(hashtextextended('likeness '", "(hashtextextended('likeness '"],
    ],
  },
  /** Confirms a payment without checking its status, currency and amount at Stripe. */
  'commit before verify': {
    file: 'paying/confirmPayment.ts',
    changes: [
      ["if (intent.status !== 'succeeded') return intent.status;", ''],
      ["intent.currency === 'usd' &&", ''],
      ['intent.amountReceivedCents === snapshot.amount_cents &&', ''],
      ['intent.amountReceivedCents === shownCents', 'true'],
    ],
  },
  /** Takes the membership from the order as it is now, instead of from the snapshot that was paid. */
  'current items': {
    file: 'paying/confirmPayment.ts',
    changes: [
      [
        'snapshot.items.find(isMembershipLine)',
        `(await trx.selectFrom('join_session').select('lines').where('uuid', '=', named.uuid).executeTakeFirstOrThrow())
        .lines.find(isMembershipLine)`,
      ],
    ],
  },
  /** Removes the error listener of connections, so that a connection that breaks while in use ends the server. */
  'no listener': {
    file: 'platform/database/client.ts',
    changes: [["    client.on('error', () => primary?.doubt());", '']],
  },
} as const satisfies Record<string, Break>;

interface Break {
  /** The path below apps/server. */
  file: string;
  /** Pairs of the original text and its replacement. */
  changes: readonly (readonly [string, string])[];
}

export type Variant = keyof typeof variants;

const variant = process.env.FAULTS_BROKEN;
if (variant) {
  const chosen: Break = variants[variant as Variant];
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/apps/server/${chosen.file}`)) return loaded;
      return { ...loaded, source: broken(String(loaded.source), chosen) };
    },
  });
}

/**
 * Returns the source with a variant's changes. Throws when a text that a change replaces is missing; the variant must then be
 * rewritten.
 */
export function broken(source: string, { file, changes }: Break): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${file} has no "${from}" to break any more`);
    return text.replaceAll(from, to);
  }, source);
}
