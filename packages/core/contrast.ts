/** The minimum contrast of normal text (WCAG 2.2, 1.4.3, level AA). */
const TEXT_CONTRAST = 4.5;

type Rgb = readonly [number, number, number];

function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Returns the relative luminance of a colour, from 0 to 1 (WCAG 2.2, glossary). */
function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours, 1 to 21. Each is "#rrggbb". */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(rgb(one)), luminance(rgb(other))].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the colour that CSS computes for `color-mix(in srgb, colour percent%, other)`. */
export function mix(colour: string, percent: number, other: string): string {
  const [a, b] = [rgb(colour), rgb(other)];
  const channels = a.map((channel, at) => Math.round((channel * percent + b[at]! * (100 - percent)) / 100));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** The page's fixed colours that appear next to the society's colours. They must equal the colours in packages/ui/tokens.css. */
export const pageColours = {
  white: '#ffffff',
  paper: '#fffdf8',
  paperTint: '#faf6ea',
  inkSoft: '#5d544d',
  green: '#1c6a45',
  danger: '#b3261e',
  dangerWash: '#fcf1f0',
} as const;

/**
 * Checks that text in the society's colours has the contrast that WCAG AA requires. Returns at most one fault: that red text on the
 * page's light colours is too light or, if it is not, that text on a tint of gold has too little contrast. Returns an empty array
 * if there is no fault.
 */
export function contrastFaults({ gold, red }: { gold: string; red: string }): {
  colour: 'gold' | 'red';
  text: string;
}[] {
  const { white, paper, paperTint, inkSoft, green, danger } = pageColours;
  const goldWash = mix(gold, 13, '#fffefa');
  const redWash = mix(red, 6, white);
  const least = (colours: string[], others: string[]) =>
    Math.min(...colours.flatMap((one) => others.map((other) => contrast(one, other))));
  const needs = (ratio: number) =>
    `would have a contrast of ${ratio.toFixed(2)} to 1, and needs ${TEXT_CONTRAST} to 1 (WCAG AA)`;
  const onRed = least([red], [white, paper, paperTint, redWash]);
  const onGold = least([red, inkSoft, green, danger], [goldWash]);
  if (onRed < TEXT_CONTRAST)
    return [{ colour: 'red', text: `is too light: buttons and links in it ${needs(onRed)}` }];
  if (onGold < TEXT_CONTRAST)
    return [{ colour: 'gold', text: `is too strong: text on its tint ${needs(onGold)}` }];
  return [];
}
