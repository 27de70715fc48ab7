/**
 * Returns a text without what nobody sees: control characters, bidirectional controls, soft hyphens, and spaces and marks without a
 * width. Any white space becomes one space, none is left at either end, and letters are composed (NFC). Joiners and variation
 * selectors stay where a script needs them, as in Persian, Hindi and Japanese names.
 */
export function cleanText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(
      /(?<![\p{L}\p{M}])\p{Join_Control}|(?<=\p{Script=Latin})\p{Join_Control}|\p{Join_Control}(?!\p{L})/gu,
      '',
    )
    .replace(/(?<!\p{Script=Han})\p{Variation_Selector}/gu, '')
    .replace(/[\s\u0085\u2800]+/gu, ' ')
    .replace(/\p{Cc}/gu, '')
    .trim();
}
