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

/** Whether single-key shortcuts are on. People who use speech input can switch them off (WCAG 2.2, 2.1.4). */
export const keysAreOn = isOn.use;

export function switchKeys(on: boolean): void {
  isOn.set(on);
  try {
    localStorage.setItem(STORED, on ? 'on' : 'off');
  } catch {
    // In a browser that stores nothing, the choice lasts until the page is loaded again.
  }
}

/**
 * Runs `press` when the key is pressed. Does nothing if `press` is null, in a text field, while a dialog is open, or if shortcuts
 * are switched off. The listener is added before the page is painted (in a layout effect), so that a key pressed immediately
 * after that is not lost.
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
