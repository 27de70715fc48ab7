import { useLayoutEffect } from 'react';
import { sharedValue } from '#ui/sharedValue.ts';

const STORED = 'desk.keys';

function readStored(): boolean {
  try {
    return localStorage.getItem(STORED) !== 'off';
  } catch {
    return true;
  }
}

const isOn = sharedValue(readStored());

/** Whether single keys do something. Whoever speaks to their computer switches them off (WCAG 2.2, 2.1.4). */
export const keysAreOn = isOn.use;

export function switchKeys(on: boolean): void {
  isOn.set(on);
  try {
    localStorage.setItem(STORED, on ? 'on' : 'off');
  } catch {
    // A browser that stores nothing keeps the choice until the page is loaded again.
  }
}

/**
 * Runs `press` at a key, unless it is null, somebody types, a dialog is open, or keys are switched off. It listens as soon as the page shows
 * that it does, so that a key pressed at once is not lost.
 */
export function useKey(key: string, press: (() => void) | null): void {
  const on = keysAreOn();
  useLayoutEffect(() => {
    if (!on || !press) return;
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
        return;
      const target = event.target as Element | null;
      if (target?.closest('input, textarea, select, [contenteditable]')) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      press();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [key, press, on]);
}
