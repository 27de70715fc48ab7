import type { Page } from '@playwright/test';

/** From a press to the next screen (ms). */
export interface StepTime {
  /** Until its heading is painted. */
  shown: number;
  /** From the answer to the press, until its heading is painted: what is not the line's. */
  afterAnswer: number;
  /** Until its data is painted. */
  complete: number;
}

/** A press that leads to another screen. */
export interface StepTo {
  press: string;
  /** How the address of the call ends that the press makes. */
  call: string;
  /** What is on the next screen when its data is. */
  complete: string;
}

/** Presses, and gives what the page's own clock says. */
export async function timeStep(page: Page, { press, call, complete }: StepTo): Promise<StepTime> {
  await page.evaluate(watchFor, complete);
  await page.locator(press).first().click();
  const times = await page.evaluate(
    () =>
      (window as unknown as { __step: Promise<{ pressed: number; shown: number; complete: number }> }).__step,
  );
  const answered = await page.evaluate((ending) => {
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return entries.filter(({ name }) => name.split('?')[0]!.endsWith(ending)).at(-1)?.responseEnd;
  }, call);
  if (answered === undefined) throw new Error(`Pressing ${press} did not call ${call}.`);
  return {
    shown: times.shown - times.pressed,
    afterAnswer: times.shown - answered,
    complete: times.complete - times.pressed,
  };
}

/** Runs in the page: notes when it was pressed, and when what is looked for has been painted. */
function watchFor(complete: string): void {
  const before = document.querySelector('h1');
  const painted = () =>
    new Promise<number>((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
  const until = (isThere: () => boolean) =>
    new Promise<number>((done) => {
      const look = () => {
        if (!isThere()) return;
        observer.disconnect();
        void painted().then(done);
      };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      look();
    });
  const pressed = new Promise<number>((done) =>
    document.addEventListener('click', (event) => done(event.timeStamp), { capture: true, once: true }),
  );
  const isShown = () => {
    const heading = document.querySelector('h1');
    return heading !== null && heading !== before;
  };
  const step = Promise.all([
    pressed,
    until(isShown),
    until(() => isShown() && document.querySelector(complete) !== null),
  ]);
  (window as unknown as { __step: unknown }).__step = step.then(([pressed, shown, complete]) => ({
    pressed,
    shown,
    complete,
  }));
}
