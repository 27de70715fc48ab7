import { expect, expectFits, test } from './fixtures.ts';
import { screens } from './screens.ts';
import { faintEdges, outOfSequence, smallTargets, spaceText, tabThrough, textTroubles } from './wcag.ts';

// What the reader of docs/accessibility.md is told of every screen, where axe has no rule for it.

test.use({ contextOptions: { reducedMotion: 'reduce' } });

for (const { name, arrange, isThere } of screens) {
  test(`${name}: every stop of the Tab key is seen and in order, and edges stand out @phone`, async ({
    page,
    complaints,
    isMobile,
  }) => {
    complaints.expect(/The payment was not completed/);
    await page.goto(await arrange(page));
    await expect(isThere(page)).toBeVisible();
    expect(await faintEdges(page)).toEqual([]);
    expect(await outOfSequence(page)).toEqual([]);
    if (isMobile) expect(await smallTargets(page)).toEqual([]);
    const stops = await tabThrough(page);
    expect(stops.filter(({ troubles }) => troubles.length > 0)).toEqual([]);
    // To the last line of the foot, so that nothing in between kept the key.
    expect(stops.at(-1)?.name).toContain('(555)');
  });

  test(`${name}: wider spaces between letters, words and lines cut nothing off, upright and on its side`, async ({
    page,
    complaints,
  }) => {
    complaints.expect(/The payment was not completed/);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(await arrange(page));
    await expect(isThere(page)).toBeVisible();
    expect(await textTroubles(page)).toEqual([]);
    await page.setViewportSize({ width: 740, height: 360 });
    expect(await textTroubles(page)).toEqual([]);
    await spaceText(page);
    expect(await textTroubles(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectFits(page);
    expect(await textTroubles(page)).toEqual([]);
  });
}
