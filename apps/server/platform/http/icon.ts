import { encodePng } from '../png.ts';

/** The society's colours, as #RRGGBB. */
interface Colours {
  gold: string;
  red: string;
}
type Point = readonly [x: number, y: number];
interface Shape {
  fill: string;
  points: Point[];
}

/** The width and height of the drawing (units of its coordinates). */
const SIDE = 48;
/** The number of samples for each pixel in each direction (anti-aliasing). */
const SAMPLES = 4;

/**
 * Returns the shapes of the pages' crest (apps/web/components/Crest.tsx), without the fine lines, which are too small for an icon.
 */
function shapesIn({ gold, red }: Colours): Shape[] {
  const shield = [
    [24, 1],
    [42, 6],
    ...curve([42, 23], [42, 34], [35, 42], [24, 47]),
    ...curve([24, 47], [13, 42], [6, 34], [6, 23]),
    [6, 6],
  ] as Point[];
  const half = [[24, 5.6], [38, 9.4], ...curve([38, 22.8], [38, 31.4], [32.8, 37.9], [24, 42.2])] as Point[];
  const star = Array.from({ length: 10 }, (_, corner): Point => {
    const [angle, radius] = [(corner * Math.PI) / 5, corner % 2 === 0 ? 10 : 4.4];
    return [24 + radius * Math.sin(angle), 23 - radius * Math.cos(angle)];
  });
  return [
    { fill: red, points: shield },
    { fill: gold, points: half },
    { fill: '#FFFFFF', points: star },
  ];
}

/** Returns nine points on a cubic Bézier curve. */
function curve(from: Point, first: Point, second: Point, to: Point): Point[] {
  return Array.from({ length: 9 }, (_, step) => {
    const [t, u] = [step / 8, 1 - step / 8];
    const at = (axis: 0 | 1) =>
      u ** 3 * from[axis] + 3 * u * u * t * first[axis] + 3 * u * t * t * second[axis] + t ** 3 * to[axis];
    return [at(0), at(1)] as const;
  });
}

/** Returns the tab's icon as SVG. */
export function iconSvg(colours: Colours): string {
  const polygons = shapesIn(colours).map(({ fill, points }) => {
    const corners = points.map((point) => point.map((value) => Number(value.toFixed(2))).join(',')).join(' ');
    return `<polygon fill="${fill}" points="${corners}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}">${polygons.join('')}</svg>`;
}

/** Returns the icon as PNG, `size` pixels square, for home screens and for browsers without support for SVG icons. */
export function iconPng(colours: Colours, size: number): Buffer {
  const shapes = shapesIn(colours).map(({ fill, points }) => ({
    points,
    rgb: [1, 3, 5].map((start) => Number.parseInt(fill.slice(start, start + 2), 16)),
  }));
  const pixels = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const sum = [0, 0, 0, 0];
      for (let sample = 0; sample < SAMPLES ** 2; sample++) {
        const at = (pixel: number, part: number) => ((pixel + (part + 0.5) / SAMPLES) * SIDE) / size;
        const point: Point = [at(x, sample % SAMPLES), at(y, Math.floor(sample / SAMPLES))];
        const top = shapes.findLast(({ points }) => isInside(point, points));
        if (!top) continue;
        for (const channel of [0, 1, 2]) sum[channel]! += top.rgb[channel]!;
        sum[3]! += 1;
      }
      const covered = sum[3]!;
      const pixel = sum.slice(0, 3).map((value) => (covered === 0 ? 0 : Math.round(value / covered)));
      pixels.set([...pixel, Math.round((covered / SAMPLES ** 2) * 255)], (y * size + x) * 4);
    }
  return encodePng(pixels, size, 'rgba');
}

/** Whether a point is inside a polygon: a ray to the right then crosses its edges an odd number of times. */
function isInside([x, y]: Point, points: readonly Point[]): boolean {
  let inside = false;
  for (let index = 0; index < points.length; index++) {
    const [ax, ay] = points[index]!;
    const [bx, by] = points[(index + 1) % points.length]!;
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
  }
  return inside;
}
