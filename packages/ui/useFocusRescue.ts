import { useEffect, useRef } from 'react';

/**
 * Runs `rescue` when a change of `value` has removed the element that had the focus. Otherwise screen readers would start again
 * at the top of the page. `isLoss` decides which changes remove the element; by default all do.
 */
export function useFocusRescue<T>(
  value: T,
  rescue: () => void,
  isLoss: (now: T, before: T) => boolean = (now, before) => now !== before,
): void {
  const last = useRef(value);
  useEffect(() => {
    const before = last.current;
    last.current = value;
    if (isLoss(value, before) && document.activeElement === document.body) rescue();
  }, [value, rescue, isLoss]);
}
