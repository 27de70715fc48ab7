import { type RawBuilder, sql } from 'kysely';
import { emailKey } from '#core/personKeys.ts';

/*
 * A person's `words`: what is known of them for good and, behind a bar, what they last typed before they were proven. The latter is
 * replaced when they type anew, so that a mistyped email, which may be somebody else's, does not stay.
 */
export const BAR = ' | ';

/** SQL for the words of the query's `person` that were not merely typed. */
const lastingWords = sql`split_part(person.words, ${sql.lit(BAR)}, 1)`;

/** SQL for the words of the query's `person` once they have typed these. Who types what is known of them changes no index. */
export function wordsTyped(typed: string): RawBuilder<string> {
  return sql<string>`case when ${isLasting(sql`${typed}::text`)} then ${lastingWords}
    else ${lastingWords} || ${sql.lit(BAR)} || ${typed}::text end`;
}

/** SQL for whether words are, in this order, among those of the query's `person` that were not merely typed. */
function isLasting(words: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`strpos(' ' || ${lastingWords} || ' ', ' ' || ${words} || ' ') > 0`;
}

/** SQL for the words of the query's `person` with some that stay. `more` is SQL. */
export function wordsWith(more: RawBuilder<unknown>): RawBuilder<string> {
  const added = sql`btrim(replace(${more}, ${sql.lit(BAR)}, ' '))`;
  return sql<string>`case when ${added} = '' or ${isLasting(added)}
    then person.words else ${added} || ' ' || person.words end`;
}

/** SQL for whether a key of three letters or more is a part of the words of the query's `person`, by the index. */
export function hasPart(key: string): RawBuilder<boolean> {
  return sql<boolean>`(trigrams(person.words) @> trigrams(${key}) and strpos(person.words, ${key}) > 0)`;
}

/** SQL for whether an email is, or once was, that of the query's `person`. One that they merely typed does not count. */
export function hasEmail(email: string): RawBuilder<boolean> {
  const key = emailKey(email);
  return sql<boolean>`(${hasPart(key)} and ${key} = any(string_to_array(${lastingWords}, ' ')))`;
}

/** SQL for all emails among the words of the query's `person`, as an array. */
export const emailsOfWords: RawBuilder<string[]> = sql<string[]>`array(
  select word from string_to_table(person.words, ' ') as word where word like '%@%')`;
