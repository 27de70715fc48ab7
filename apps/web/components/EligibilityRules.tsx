import type { Data } from '#contract/schemas.ts';
import styles from './EligibilityRules.module.css';

type Eligibility = Omit<Data<'getMembershipDetails'>['eligibility'], 'programme'>;

/** The eligibility rules, for screens with a price or a card form. */
export function EligibilityRules({ eligibility: { intro, rules, note } }: { eligibility: Eligibility }) {
  return (
    <section className={styles.box} aria-labelledby="eligibility">
      <h2 id="eligibility">Before you pay: are you eligible?</h2>
      <p>{intro}</p>
      <ul>
        {rules.map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
      <p>{note}</p>
    </section>
  );
}
