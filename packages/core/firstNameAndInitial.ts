import { cleanText } from './cleanText.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Returns a person's first name and the initial of the last name: "Jordan R.". The initial is the first character that has a
 * letter, with its marks. If the last name has no such character, it is left out. Null without a first name.
 */
export function firstNameAndInitial(firstName: string | null, lastName: string | null): string | null {
  const first = cleanText(firstName ?? '');
  if (first === '') return null;
  const characters = [...graphemes.segment(cleanText(lastName ?? ''))];
  const initial = characters.find(({ segment }) => /\p{L}/u.test(segment))?.segment;
  return initial ? `${first} ${initial}.` : first;
}
