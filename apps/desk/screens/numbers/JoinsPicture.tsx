import { useState } from 'react';
import { counted } from '../../lib/words.ts';
import type { Numbers } from './loadNumbers.ts';
import styles from './Numbers.module.css';
import { daysOf, type Period, wordsOfDay } from './periods.ts';

const HEIGHT = 120;
/** The width of a day. Its two bars take most of it. */
const DAY = 10;

/**
 * A bar chart of the joins that began and that were paid on each day. The numbers of a day are shown in words below the chart
 * when the pointer is on it, or when it is chosen with the slider.
 */
export function JoinsPicture({ period, days }: { period: Period; days: Numbers['days'] }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const known = new Map(days.map((each) => [each.day, each]));
  const shown = daysOf(period).map((day) => known.get(day) ?? { day, begun: 0, paid: 0 });
  const most = Math.max(1, ...shown.map(({ begun, paid }) => Math.max(begun, paid)));
  const begun = shown.reduce((sum, each) => sum + each.begun, 0);
  const paid = shown.reduce((sum, each) => sum + each.paid, 0);
  const day = chosen === null ? undefined : shown[chosen];
  const told = day
    ? `${wordsOfDay(day.day)}: ${counted(day.begun, 'join')} began, ${day.paid.toLocaleString('en-US')} paid.`
    : `${counted(begun, 'join')} began, ${paid.toLocaleString('en-US')} paid.`;
  const bar = (count: number, index: number, offset: number, className: string) => {
    const height = (count / most) * HEIGHT;
    return (
      <rect
        className={className}
        x={index * DAY + offset}
        y={HEIGHT - height}
        width={DAY * 0.4}
        height={height}
      />
    );
  };
  return (
    <figure className={styles.picture}>
      <svg
        viewBox={`0 0 ${shown.length * DAY} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Joins by day: ${begun} began, ${paid} were paid.`}
        onPointerLeave={() => setChosen(null)}
      >
        {shown.map((each, index) => (
          <g key={each.day} onPointerEnter={() => setChosen(index)}>
            <rect
              className={index === chosen ? styles.chosen : styles.day}
              x={index * DAY}
              y={0}
              width={DAY}
              height={HEIGHT}
            />
            {bar(each.begun, index, DAY * 0.1, styles.begun!)}
            {bar(each.paid, index, DAY * 0.5, styles.paid!)}
          </g>
        ))}
      </svg>
      <input
        type="range"
        aria-label="Day"
        min={0}
        max={shown.length - 1}
        value={chosen ?? 0}
        aria-valuetext={told}
        onFocus={() => setChosen(chosen ?? 0)}
        onChange={({ target }) => setChosen(Number(target.value))}
      />
      <figcaption>
        <p className={styles.legend}>
          <span className={styles.begunKey}>began</span>
          <span className={styles.paidKey}>paid</span>
          <span>at most {most} a day</span>
        </p>
        <p>{told}</p>
      </figcaption>
    </figure>
  );
}
