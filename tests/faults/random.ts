/** A seeded source of choices: the same seed gives the same choices on every machine. */
export interface Random {
  /** From 0 up to but not including `below`. */
  integer(below: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Returns a function that deals every item once, in random order, before any item comes again. */
  deck<T>(items: readonly T[]): () => T;
}

export function random(seed: number): Random {
  const next = mulberry32(seed);
  const integer = (below: number) => Math.floor(next() * below);
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(items.length)]!,
    deck<T>(items: readonly T[]) {
      let left: T[] = [];
      return () => {
        if (left.length === 0) left = [...items];
        return left.splice(integer(left.length), 1)[0]!;
      };
    },
  };
}

/** Tommy Ettinger's Mulberry32: returns numbers from 0 up to but not including 1. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
