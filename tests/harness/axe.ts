import type { Frame } from '@playwright/test';
import axe from 'axe-core';

/** axe's tags for the rules of WCAG 2.2 AA. */
export const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Returns what axe finds in a frame, without the frames within it. `chosen` are the tags of the rules, or their names. */
export async function violationsIn(
  frame: Frame,
  chosen: readonly string[],
  type: 'tag' | 'rule' = 'tag',
): Promise<{ id: string; help: string; at: string[] }[]> {
  if (!(await frame.evaluate(() => 'axe' in window))) await frame.evaluate(axe.source);
  return frame.evaluate(
    async (runOnly) => {
      const { run } = (window as unknown as { axe: typeof axe }).axe;
      const { violations } = await run({
        iframes: false,
        // Nothing is preloaded, since only the rules for sound and locked orientation need more than the loaded page.
        preload: false,
        resultTypes: ['violations'],
        runOnly,
      });
      return violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map(({ html }) => html) }));
    },
    { type, values: [...chosen] },
  );
}
