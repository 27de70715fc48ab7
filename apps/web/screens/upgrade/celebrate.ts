import { CONFETTI_MS } from '#core/specified.ts';

/** How long the particles of the last burst take to fall (ms). This time is part of the confetti's three seconds. */
const FALL_MS = 1200;
/** The delay (ms) between two bursts. */
const BURST_INTERVAL_MS = 160;

/**
 * Throws confetti from both sides for three seconds; none if the user prefers reduced motion. Returns a function that stops the
 * confetti.
 */
export function celebrate(colors: string[], className: string): () => void {
  if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) return () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let clear = () => {};
  const canvas = document.createElement('canvas');
  canvas.className = className;
  canvas.setAttribute('aria-hidden', 'true');
  import(/* webpackChunkName: "confetti" */ 'canvas-confetti').then(({ default: library }) => {
    if (stopped) return;
    document.body.append(canvas);
    const confetti = library.create(canvas, { resize: true });
    const until = Date.now() + CONFETTI_MS - FALL_MS;
    const palette = [...colors, '#ffffff'];
    clear = () => {
      confetti.reset();
      canvas.remove();
    };
    const burst = () => {
      if (stopped) return;
      if (Date.now() >= until) {
        // Waits until the last particles have fallen.
        timer = setTimeout(clear, FALL_MS);
        return;
      }
      const common = { particleCount: 14, spread: 62, startVelocity: 46, ticks: 110, colors: palette };
      void confetti({ ...common, angle: 60, origin: { x: 0, y: 0.7 } });
      void confetti({ ...common, angle: 120, origin: { x: 1, y: 0.7 } });
      timer = setTimeout(burst, BURST_INTERVAL_MS);
    };
    burst();
  }, console.error);
  return () => {
    stopped = true;
    clearTimeout(timer);
    clear();
  };
}
