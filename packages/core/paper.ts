/** The paper that a certificate or a press release is printed on. */
export const papers = ['letter', 'a4'] as const;
export type Paper = (typeof papers)[number];

/** Countries (ISO 3166-1) whose printers hold Letter; everywhere else it is A4. */
const LETTER = ['US', 'CA', 'MX', 'PH', 'CL', 'CO', 'VE', 'CR', 'GT', 'DO', 'PA', 'SV', 'NI', 'PR', 'GU'];

/** The paper of a country, by its two-letter code; Letter where the country is not known. */
export function paperOf(countryCode: string | undefined): Paper {
  return countryCode === undefined || LETTER.includes(countryCode) ? 'letter' : 'a4';
}
