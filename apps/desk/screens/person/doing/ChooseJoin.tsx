import { SelectField } from '#ui/SelectField.tsx';
import { stateWords } from '../../../lib/words.ts';
import type { PersonData } from '../loadPerson.ts';

type Join = PersonData['joins'][number];

/**
 * Returns the number of the join in the URL, if it is among `joins`; otherwise the number of the newest join. Null if `joins` is
 * empty.
 */
export function joinIn(about: URLSearchParams, joins: readonly Join[]): number | null {
  const named = Number(about.get('join'));
  return joins.some(({ number }) => number === named) ? named : (joins.at(-1)?.number ?? null);
}

/** A field to choose the join that an action is about, if there are several. */
export function ChooseJoin({
  joins,
  number,
  onChoose,
}: {
  joins: readonly Join[];
  number: number | null;
  onChoose: (number: number) => void;
}) {
  if (joins.length < 2) return null;
  return (
    <SelectField
      id="join"
      label="Join"
      value={String(number)}
      options={joins.map((join) => ({
        value: String(join.number),
        label: `Join ${join.number}: ${join.programme}, ${stateWords[join.state]}`,
      }))}
      onChange={({ target }) => onChoose(Number(target.value))}
    />
  );
}
