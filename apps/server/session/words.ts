import { type RawBuilder, sql } from 'kysely';
import { emailKey } from '#core/personKeys.ts';

/*
 * The search words of a person (column `words`): those that stay and, behind a bar, those of the details that the person typed
 * last. The latter are replaced when the person types again, so that a mistyped email, which may be somebody else's, does not stay.
 */
export const BAR = ' | ';

/** SQL for the words of the query's `person` that stay. */
const lastingWords = sql`split_part(person.words, ${sql.lit(BAR)}, 1)`;

/**
 * SQL for the new words of the query's `person` once they have typed `typed`. Words that stay are not added again, so that no
 * index changes.
 */
export function wordsTyped(typed: string): RawBuilder<string> {
  return sql<string>`case when ${isLasting(sql`${typed}::text`)} then ${lastingWords}
    else ${lastingWords} || ${sql.lit(BAR)} || ${typed}::text end`;
}

/** SQL for whether the staying words of the query's `person` contain these words, in this order. */
function isLasting(words: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`strpos(' ' || ${lastingWords} || ' ', ' ' || ${words} || ' ') > 0`;
}

/** SQL for the new words of the query's `person` once `more` (SQL) is added to those that stay. */
export function wordsWith(more: RawBuilder<unknown>): RawBuilder<string> {
  const added = sql`btrim(replace(${more}, ${sql.lit(BAR)}, ' '))`;
  return sql<string>`case when ${added} = '' or ${isLasting(added)}
    then person.words else ${added} || ' ' || person.words end`;
}

/** SQL for whether the words of the query's `person` contain a key of at least three letters. Uses the index. */
export function hasPart(key: string): RawBuilder<boolean> {
  return sql<boolean>`(trigrams(person.words) @> trigrams(${key}) and strpos(person.words, ${key}) > 0)`;
}

/** SQL for whether an email is, or once was, that of the query's `person`. An email that they merely typed does not count. */
export function hasEmail(email: string): RawBuilder<boolean> {
  const key = emailKey(email);
  return sql<boolean>`(${hasPart(key)} and ${key} = any(string_to_array(${lastingWords}, ' ')))`;
}

/** SQL for all emails among the words of the query's `person`, as an array. */
export const emailsOfWords: RawBuilder<string[]> = sql<string[]>`array(
  select word from string_to_table(person.words, ' ') as word where word like '%@%')`;
