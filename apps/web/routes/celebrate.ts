/** Specification, section 9: confetti for 3000 milliseconds. */
const CONFETTI_MS = 3000;
/** Milliseconds between two handfuls. */
const EVERY = 160;

/** Three seconds of confetti from both sides; none under reduced motion. Returns how to stop it early. */
export function celebrate(colors: string[]): () => void {
  if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) return () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let clear = () => {};
  import(/* webpackChunkName: "confetti" */ 'canvas-confetti').then(
    ({ default: { create } }) => {
      // In this thread: the content security policy refuses the worker that the library makes of a blob.
      const confetti = create(undefined, { resize: true, useWorker: false });
      const until = Date.now() + CONFETTI_MS;
      const palette = [...colors, '#ffffff'];
      clear = () => confetti.reset();
      const throwSome = () => {
        if (stopped) return;
        if (Date.now() >= until) return clear();
        const common = { particleCount: 14, spread: 62, startVelocity: 46, ticks: 110, colors: palette };
        void confetti({ ...common, angle: 60, origin: { x: 0, y: 0.7 } });
        void confetti({ ...common, angle: 120, origin: { x: 1, y: 0.7 } });
        timer = setTimeout(throwSome, EVERY);
      };
      throwSome();
    },
    (error) => console.error(error),
  );
  return () => {
    stopped = true;
    clearTimeout(timer);
    clear();
  };
}
