import { cleanText } from './cleanText.ts';

const LONGEST = 40;
const LONGEST_WORD = 25;
/** The maximum number of words in a name, not counting particles such as "de la". */
const MOST_WORDS = 2;
const PARTICLE = /^(?:al|bin|bint|da|das|de|del|der|di|do|dos|du|el|la|las|le|los|y|van|von)$/i;
/** Scripts that put no spaces between words, each with the maximum length of a name in it. */
const UNSPACED: [script: RegExp, longest: number][] = [
  [/\p{Script=Han}/u, 4],
  [
    /[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u,
    10,
  ],
];

/**
 * A word of a name: letters, with hyphens and apostrophes between them, and optionally a full stop at the end. Modifier letters
 * are excluded, since some look like a full stop, except those that occur in names.
 */
const WORD =
  /^\p{L}[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{M}\u02bb\u02bc\u3005\u30fc\u200c\u200d]*(?:['’‘`´-][\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{M}\u02bb\u02bc]+)*['’]?\.?$/u;
/** Initials: "J.R." */
const INITIALS = /^(?:\p{L}\p{M}*\.){2,4}$/u;
const LATIN = /\p{Script=Latin}/u;
const OTHER_THAN_LATIN = /(?!\p{Script=Latin})\p{L}/u;
const HARMLESS = /[\u02bb\u02bc]/g;

/** Words that mark a text of two words or more as an English sentence, an address or a number. */
const OF_SENTENCE =
  /^(?:you|your|yours|our|we|us|is|was|has|have|been|call|click|go|to|here|now|please|verify|confirm|account|bank|password|urgent|this|that|prize|won|customer|http|https|www|com|net|org|dot|zero|one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand)$/i;
/** A word that begins with a lower-case letter, as words within a sentence do. */
const SMALL = /^\p{Ll}/u;
/**
 * Characters that look like a full stop or a line, or that cover a line of text: certain letters, marks that belong to no script,
 * four marks in a row.
 */
const LOOK_ALIKE = /[\ua78f\u01c0-\u01c3]|(?=\p{Script=Common})\p{M}|\p{Mn}{4}/u;
/**
 * Digits of any script. Chinese numerals can be part of a name, so they count only if the whole text is three of them or more.
 */
const NUMBER = /\p{N}|^[〇零一二三四五六七八九十百千万萬]{3,}$/u;

/**
 * Returns a first name that a letter may contain; null if the text is a sentence, an address, a link or a number. Anybody can
 * have letters sent to any email, so a stranger must not be able to send a message in the field for the name.
 */
export function nameForLetter(text: string): string | null {
  const name = cleanText(text);
  // Normalises full-width characters and, as far as Unicode maps them, characters that look like a full stop.
  const words = name.normalize('NFKC').normalize('NFC').split(' ');
  const parts = words.flatMap((word) => word.split('-'));
  const own = words.filter((word) => !PARTICLE.test(word));
  const isName =
    name.length <= LONGEST &&
    own.length <= MOST_WORDS &&
    UNSPACED.every(([script, longest]) => !script.test(name) || name.length <= longest) &&
    !/^www$/i.test(name) &&
    !NUMBER.test(name) &&
    !LOOK_ALIKE.test(name) &&
    words.every((word) => word.length <= LONGEST_WORD && (WORD.test(word) || INITIALS.test(word))) &&
    !(LATIN.test(name) && OTHER_THAN_LATIN.test(name.replace(HARMLESS, ''))) &&
    !(parts.length > 1 && parts.some((part) => OF_SENTENCE.test(part.replace(/\.$/, '')))) &&
    !own.slice(1).some((word) => SMALL.test(word));
  return isName ? name : null;
}
