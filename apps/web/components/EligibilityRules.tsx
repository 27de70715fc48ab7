import type { Data } from '#contract/schemas.ts';
import styles from './EligibilityRules.module.css';

type Eligibility = Omit<Data<'getMembershipDetails'>['eligibility'], 'programme'>;

/** The rules in plain words, where a price is shown and before a card is asked for. */
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
