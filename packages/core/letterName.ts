import { cleanText } from './cleanText.ts';

const LONGEST = 40;
const LONGEST_WORD = 25;
const MOST_WORDS = 3;
/** The most characters of a name in a script that puts no spaces between words. */
const LONGEST_UNSPACED = 10;
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/**
 * A word of a name: letters, with hyphens and apostrophes between them, and a full stop at its end. Modifier letters are left out,
 * but for those that names have, since some look like a full stop.
 */
const WORD =
  /^\p{L}[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{M}\u02bb\u02bc\u3005\u30fc\u200c\u200d]*(?:['’‘`´-][\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{M}\u02bb\u02bc]+)*['’]?\.?$/u;
/** Initials: "J.R." */
const INITIALS = /^(?:\p{L}\p{M}*\.){2,4}$/u;
const LATIN = /\p{Script=Latin}/u;
const OTHER_THAN_LATIN = /(?!\p{Script=Latin})\p{L}/u;
const HARMLESS = /[\u02bb\u02bc]/g;

/** Words by which an English sentence is known, of two words or more. */
const OF_SENTENCE =
  /^(?:you|your|yours|our|we|us|is|was|has|have|been|call|click|here|now|please|verify|confirm|account|bank|password|urgent|this|that|prize|won|http|https|www|com)$/i;

/**
 * Returns a first name as a letter may print it; null if the text is a sentence, an address, a link or a number. Anybody can have
 * letters sent to any email, so what a stranger typed as a name must not be a message.
 */
export function nameForLetter(text: string): string | null {
  const name = cleanText(text);
  // Full-width characters and the look-alikes of a full stop that Unicode knows become the usual ones.
  const words = name.normalize('NFKC').normalize('NFC').split(' ');
  const isName =
    name.length <= LONGEST &&
    words.length <= MOST_WORDS &&
    (!UNSPACED.test(name) || name.length <= LONGEST_UNSPACED) &&
    !/^www$/i.test(name) &&
    words.every((word) => word.length <= LONGEST_WORD && (WORD.test(word) || INITIALS.test(word))) &&
    !(LATIN.test(name) && OTHER_THAN_LATIN.test(name.replace(HARMLESS, ''))) &&
    !(words.length > 1 && words.some((word) => OF_SENTENCE.test(word.replace(/\.$/, ''))));
  return isName ? name : null;
}
