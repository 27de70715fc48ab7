/** The paper sizes for certificates and press releases. */
export const papers = ['letter', 'a4'] as const;
export type Paper = (typeof papers)[number];

/** Countries (ISO 3166-1) that use Letter paper; all others use A4. */
const LETTER = ['US', 'CA', 'MX', 'PH', 'CL', 'CO', 'VE', 'CR', 'GT', 'DO', 'PA', 'SV', 'NI', 'PR', 'GU'];

/** Returns the paper size of a country, by its two-letter code; Letter when the country is unknown. */
export function paperOf(countryCode: string | undefined): Paper {
  return countryCode === undefined || LETTER.includes(countryCode) ? 'letter' : 'a4';
}
