/** The facts of a press release. A fact that is unknown or cannot be printed is null. */
export interface PressFacts {
  name: string;
  school: string | null;
  city: string | null;
  state: string | null;
  programme: string;
  distinction: string | null;
  /** The date of admission: "November 23, 2026". */
  since: string;
  /** The URL at which readers can verify the membership; null if the membership is unlisted. */
  verifyUrl: string | null;
  society: { name: string; phone: string; email: string; website: string };
  /** The society's own texts, each null if the society file lacks it. */
  words: { why: string | null; quote: { text: string; by: string } | null; about: string | null };
}

export interface PressRelease {
  headline: string;
  /** Place and date: "AUSTIN, Texas, November 23, 2026". */
  dateline: string;
  paragraphs: string[];
  about: { title: string; text: string } | null;
  contact: string[];
  society: string;
  colours: { gold: string; red: string };
  /** The creation date in the PDF. */
  sinceTime: Date;
}

const RELEASE = 'FOR IMMEDIATE RELEASE';
const END = '###';
export const release = { top: RELEASE, end: END } as const;

/**
 * Writes the press release, in this order: headline, place and date, news, why it matters, quote, where to verify the membership,
 * about the society, contact data.
 */
export function writeRelease(
  facts: PressFacts,
  { colours, sinceTime }: Pick<PressRelease, 'colours' | 'sinceTime'>,
): PressRelease {
  const { name, school, city, state, programme, distinction, since, verifyUrl, society, words } = facts;
  const place = [city?.toLocaleUpperCase('en-US'), state].filter(Boolean).join(', ');
  const ofSchool = school ? `, a student at ${school},` : '';
  const as = distinction ? `, as a ${distinction}` : '';
  return {
    headline: distinction
      ? `${name} Named ${distinction} of ${society.name}`
      : `${name} Admitted to ${society.name}`,
    dateline: [...(place ? [place] : []), since].join(', '),
    paragraphs: [
      `${name}${ofSchool} has been admitted to ${programme}, a program of ${society.name}${as}.`,
      ...(words.why ? [words.why] : []),
      ...(words.quote ? [`“${words.quote.text.replace(/\.$/, ',')}” said ${words.quote.by}.`] : []),
      ...(verifyUrl ? [`The membership can be confirmed at ${verifyUrl}.`] : []),
    ],
    about: words.about ? { title: `About ${society.name}`, text: words.about } : null,
    contact: [`Contact: ${society.name}`, society.phone, society.email, society.website],
    society: society.name,
    colours,
    sinceTime,
  };
}

/** Returns the press release as plain text for copying: one line for each paragraph, with empty lines between. */
export function releaseText({ headline, dateline, paragraphs, about, contact }: PressRelease): string {
  const [first, ...others] = paragraphs;
  return [
    RELEASE,
    headline,
    `${dateline} – ${first}`,
    ...others,
    ...(about ? [`${about.title}\n${about.text}`] : []),
    contact.join('\n'),
    END,
  ].join('\n\n');
}
