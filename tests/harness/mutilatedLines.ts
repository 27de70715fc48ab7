import fc from 'fast-check';

/** A line of a CSV file, and whether it has any content, so that a reader must count it. */
export interface MutilatedLine {
  text: string;
  isFilled: boolean;
}

const slips = ['"', '""', ',', ';', '\t', "'", '“', '\u200b', '\u00a0', '\0', '\ufffd', 'é', '#', ' '];

/** Invitations as people and programs damage them, and lines without content. */
export const mutilatedLine: fc.Arbitrary<MutilatedLine> = fc.oneof(
  fc
    .tuple(fc.nat(60), fc.array(fc.tuple(fc.nat(60), fc.nat(3), fc.constantFrom(...slips)), { maxLength: 3 }))
    .map(([n, changes]) => {
      let text = `${600_000 + n},MUTILATED${n},Ada,"Byron, A",ada${n}@example.com,`;
      for (const [at, removed, slip] of changes)
        text = `${text.slice(0, at)}${slip}${text.slice(at + removed)}`;
      return { text, isFilled: true };
    }),
  fc.constantFrom('', ',,,,,', ' ', '\t', '"",,', ',\u200b,\u00a0', ',,,,,,,,').map((text) => ({
    text,
    isFilled: false,
  })),
);
