import { registerHooks } from 'node:module';

/**
 * Loaded before a server (`--import`): changes one of its files as it is read, so that the suite can be seen to catch it.
 * `FAULTS_BROKEN` names the variant.
 */
export const variants = {
  /** Neither the session nor the contact nor the payer is locked. */
  'no lock': {
    file: 'payments/confirmPayment.ts',
    changes: [
      [' for update)', ')'],
      [", pg_advisory_xact_lock(hashtextextended('payer ' || payer, 0))", ''],
    ],
  },
  /** Written whatever Stripe says of status and amount. */
  'commit before verify': {
    file: 'payments/confirmPayment.ts',
    changes: [
      ["if (intent.status !== 'succeeded') return intent.status;", ''],
      ["intent.currency === 'usd' &&", ''],
      ['intent.amountReceivedCents === snapshot.amount_cents &&', ''],
      ['intent.amountReceivedCents === shownCents', 'true'],
    ],
  },
  /** What is confirmed is what the order holds now. */
  'current items': {
    file: 'payments/confirmPayment.ts',
    changes: [
      [
        'snapshot.items.find(isMembershipLine)',
        `(await trx.selectFrom('join_session').select('lines').where('uuid', '=', named.uuid).executeTakeFirstOrThrow())
        .lines.find(isMembershipLine)`,
      ],
    ],
  },
  /** Nobody hears that a connection broke while it was taken. */
  'no listener': {
    file: 'platform/database/client.ts',
    changes: [["    client.on('error', () => primary?.doubt());", '']],
  },
} as const satisfies Record<string, Break>;

interface Break {
  /** Below apps/server. */
  file: string;
  /** What is there, and what is there instead. */
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

/** Throws when there is nothing of the kind any more: then the variant must be written anew. */
export function broken(source: string, { file, changes }: Break): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${file} has no "${from}" to break any more`);
    return text.replaceAll(from, to);
  }, source);
}
