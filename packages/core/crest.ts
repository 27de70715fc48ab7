/** The crest (a shield divided vertically, with a star) as SVG paths in a box of 40 by 48. The screens and the papers draw it. */
export const crest = {
  width: 40,
  height: 48,
  /** The shield, filled with the society's red and outlined in a darker red. */
  field: 'M20 1 38 6v17c0 11-7 19-18 24C9 42 2 34 2 23V6z',
  /** The right half of the shield, filled with the society's gold. */
  half: 'M20 5.6 34 9.4v13.4c0 8.6-5.2 15.1-14 19.4z',
  /** The star, filled with white. */
  star: 'm20 13.5 2.7 6.3 6.8.6-5.2 4.5 1.6 6.7-5.9-3.6-5.9 3.6 1.6-6.7-5.2-4.5 6.8-.6z',
} as const;
