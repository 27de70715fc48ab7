/** Returns the name of a card for a sentence: "Visa ending 4242". */
export function cardName({ brand, last4 }: { brand: string; last4: string }): string {
  return `${brand} ending ${last4}`;
}
