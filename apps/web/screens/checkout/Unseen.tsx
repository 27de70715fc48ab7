import { Ticks } from '#ui/Text.tsx';
import { EligibilityRules } from '../../components/EligibilityRules.tsx';
import { PurifiedHtml } from '../../components/Purified.tsx';
import { RefundNote } from '../../components/RefundNote.tsx';
import type { CheckoutDetails } from './order.ts';
import styles from './styles.module.css';

/**
 * The features and terms of the membership, as on the Membership screen. Joiners who came by a checkout link see them here, since
 * they have skipped that screen.
 */
export function Unseen({
  name,
  unseen: { features, eligibility },
  refundNote,
}: {
  name: string;
  unseen: NonNullable<CheckoutDetails['unseen']>;
  refundNote: string | undefined;
}) {
  return (
    <section className={styles.block} aria-labelledby="buys">
      <h2 id="buys">{name}</h2>
      <Ticks>
        {/* Only an upgrade's features are HTML (specification, section 3), and only an upgrade has no eligibility rules. */}
        {features.map(({ id, description }) => (
          <li key={id}>{eligibility ? description : <PurifiedHtml html={description} />}</li>
        ))}
      </Ticks>
      <RefundNote text={refundNote} />
      {eligibility && <EligibilityRules eligibility={eligibility} />}
    </section>
  );
}
